from calibrant._core.registry import declare as declare
from calibrant._core.registry import entries as entries
