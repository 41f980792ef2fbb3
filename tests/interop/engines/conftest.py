"""A session of Spark for the tests that need one, where it is installed."""

import sys

import pytest


@pytest.fixture(scope="session")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "3",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = sql.SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
