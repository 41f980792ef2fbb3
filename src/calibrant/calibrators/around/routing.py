"""What goes where beside X and y: with scikit-learn's metadata routing as each asks, without it by what ``fit`` takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt
from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter

from calibrant._core.links import FloatArray
from calibrant._core.warnings import warn


@dataclass(frozen=True)
class Metadata:
    """Keywords of the estimator's ``fit``, the calibrator's weights, the splitter's groups."""

    estimator: dict[str, Any] = field(default_factory=dict)
    weight: FloatArray | None = None
    splitter: dict[str, Any] = field(default_factory=dict)


def router_of(owner: Any, estimator: Any, calibrator: Any, splitter: Any) -> MetadataRouter:
    """Return which parts of the metadata of ``fit`` go where."""
    to_fit = MethodMapping().add(caller="fit", callee="fit")
    to_split = MethodMapping().add(caller="fit", callee="split")
    router = MetadataRouter(owner=owner).add_self_request(owner)
    router.add(estimator=estimator, method_mapping=to_fit)
    router.add(calibrator=calibrator, method_mapping=to_fit)
    return router.add(splitter=splitter, method_mapping=to_split)


def asked_for(router: Any, given: dict[str, Any]) -> Metadata:
    """Give each what it asks for by scikit-learn's metadata routing."""
    routed = process_routing(router, "fit", **{name: value for name, value in given.items() if value is not None})
    return Metadata(routed.estimator.fit, routed.calibrator.fit.get("sample_weight"), routed.splitter.split)


def handed_on(
    estimator: Any, weight: FloatArray | None, groups: npt.ArrayLike | None, fit_params: dict[str, Any]
) -> Metadata:
    """Give weights to the calibrator, and to the estimator if its ``fit`` takes them; None is one that is trained."""
    if weight is not None and estimator is not None:
        if has_fit_parameter(estimator, "sample_weight"):
            fit_params = fit_params | {"sample_weight": weight}
        else:
            warn(
                f"fit of {type(estimator).__name__} takes no sample_weight: only the calibrator uses the weights. "
                "Weigh the estimator too by scikit-learn's metadata routing, or by a keyword such as step__sample_weight."
            )
    return Metadata(fit_params, weight, {} if groups is None else {"groups": groups})


def asking_for_weights(estimator: Any) -> MetadataRequest:
    """Return what an estimator asks for, ``sample_weight`` included if it has not been told otherwise."""
    request = estimator.get_metadata_routing()
    if request.fit.requests.get("sample_weight", False) is None:
        request.fit.add_request(param="sample_weight", alias=True)
    return request
