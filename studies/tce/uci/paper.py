"""What the paper prints for its ten data sets (Tables 3, 4 and 14) and its three binnings (Table 1)."""

from __future__ import annotations

from functools import cache

METRICS = ("TCE", "TCE(Q)", "ECE", "ACE", "MCE", "MCE(Q)")

PRINTED = """
abalone LR 7.26 - 0.0140 0.0252 0.0946 0.0851
abalone SVM 47.21 - 0.0436 0.0473 0.8302 0.1170
abalone RF 33.89 - 0.0127 0.0177 0.0670 0.0547
abalone GB 4.86 - 0.0182 0.0160 0.2965 0.0418
abalone MLP 3.83 - 0.0167 0.0122 0.0806 0.0540
webpage LR 40.16 - 0.0044 0.0034 0.3134 0.0214
webpage SVM 59.83 - 0.0043 0.0057 0.5402 0.0239
webpage RF 99.66 - 0.0234 0.0241 0.5980 0.1189
webpage GB 71.12 - 0.0086 0.0107 0.2399 0.0436
webpage MLP 49.81 - 0.0090 0.0018 0.4344 0.0076
coil_2000 LR 8.6189 11.7408 0.0047 0.0111 0.8558 0.0326
coil_2000 SVM 17.0003 28.9447 0.0071 0.0216 0.4860 0.0381
coil_2000 RF 22.2260 6.1758 0.0027 0.0125 0.2465 0.0439
coil_2000 GB 20.8687 12.6569 0.0052 0.0098 0.3738 0.0259
coil_2000 MLP 98.7445 98.7784 0.0652 0.0578 0.7900 0.1649
isolet LR 28.8462 27.3932 0.0131 0.0051 0.2183 0.0286
isolet SVM 11.5812 13.2479 0.0064 0.0028 0.1969 0.0194
isolet RF 66.4530 52.5214 0.0524 0.0507 0.3635 0.2137
isolet GB 25.2991 16.6667 0.0198 0.0174 0.4463 0.1123
isolet MLP 9.8291 17.5641 0.0049 0.0031 0.4173 0.0232
letter_img LR 10.5167 12.0500 0.0025 0.0008 0.1617 0.0042
letter_img SVM 11.8667 14.8167 0.0019 0.0017 0.6257 0.0146
letter_img RF 26.5000 20.2500 0.0097 0.0033 0.5179 0.0131
letter_img GB 25.9500 18.7333 0.0067 0.0029 0.3653 0.0109
letter_img MLP 19.9833 9.9833 0.0010 0.0001 0.4550 0.0007
mammography LR 25.0671 26.7660 0.0027 0.0065 0.3594 0.0208
mammography SVM 20.2683 20.1490 0.0067 0.0088 0.6741 0.0353
mammography RF 19.4039 9.2996 0.0047 0.0016 0.4465 0.0043
mammography GB 14.5156 15.4098 0.0061 0.0034 0.5355 0.0124
mammography MLP 20.5663 26.9747 0.0042 0.0027 0.4351 0.0113
optical_digits LR 11.6251 27.1649 0.0098 0.0037 0.2251 0.0135
optical_digits SVM 4.8043 10.6762 0.0042 0.0028 0.6608 0.0157
optical_digits RF 49.6441 38.3155 0.0451 0.0433 0.5432 0.2271
optical_digits GB 13.0486 11.2693 0.0181 0.0168 0.5639 0.1122
optical_digits MLP 4.6856 12.1590 0.0037 0.0034 0.5992 0.0306
pen_digits LR 20.4063 23.1049 0.0121 0.0060 0.1652 0.0252
pen_digits SVM 9.7635 10.2790 0.0017 0.0010 0.4735 0.0068
pen_digits RF 29.6240 22.8623 0.0152 0.0132 0.4535 0.0592
pen_digits GB 9.9151 13.0988 0.0077 0.0058 0.6543 0.0303
pen_digits MLP 9.4603 10.0061 0.0014 0.0004 0.6457 0.0037
satimage LR 23.6665 23.0968 0.0215 0.0223 0.7312 0.0767
satimage SVM 10.2020 21.8540 0.0229 0.0163 0.1666 0.0870
satimage RF 29.1041 20.1450 0.0265 0.0214 0.2084 0.1328
satimage GB 23.2004 19.8861 0.0154 0.0235 0.2101 0.0902
satimage MLP 58.0528 58.4671 0.0352 0.0328 0.5049 0.1384
spambase LR 33.6713 56.1188 0.0256 0.0267 0.1539 0.0895
spambase SVM 12.8168 34.5402 0.0177 0.0227 0.2207 0.0465
spambase RF 66.0391 49.4569 0.0635 0.0601 0.2056 0.1616
spambase GB 20.2028 20.4200 0.0295 0.0277 0.1409 0.0891
spambase MLP 60.9703 67.1253 0.0413 0.0397 0.2931 0.1076
"""

BINS = {"PAVA": (0.040, 0.132), "PAVA-BC": (0.042, 0.077), "10 quantiles": (0.048, 0.047)}
"""Total and averaged within-bin error of the random forest on satimage."""


@cache
def printed() -> dict[str, dict[str, dict[str, float]]]:
    """Figure of each metric, by data set and algorithm; those that are not printed are left out."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for line in PRINTED.split("\n")[1:-1]:
        data, algorithm, *figures = line.split()
        of = {metric: float(figure) for metric, figure in zip(METRICS, figures, strict=True) if figure != "-"}
        found.setdefault(data, {})[algorithm] = of
    return found


def best(metric: str) -> dict[str, str]:
    """The algorithm with the smallest figure on each data set."""
    return {data: min(of, key=lambda name: of[name][metric]) for data, of in printed().items()}
