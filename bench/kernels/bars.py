"""What has to be reached, and whether it is."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Bar:
    what: str
    value: float
    bar: float
    at_most: bool = False  # else at least

    @property
    def is_met(self) -> bool:
        return self.value <= self.bar if self.at_most else self.value >= self.bar

    def __str__(self) -> str:
        sign = "<=" if self.at_most else ">="
        return f"{self.what:66} {self.value:10.3f} {sign} {self.bar:8.3f} {'met' if self.is_met else 'MISSED'}"

    def as_json(self) -> dict[str, object]:
        return asdict(self) | {"met": self.is_met}


def at_least(what: str, value: float, bar: float) -> Bar:
    return Bar(what, value, bar)


def at_most(what: str, value: float, bar: float) -> Bar:
    return Bar(what, value, bar, at_most=True)
