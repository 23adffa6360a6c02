// Merging of measures and verdicts.
#include "sextant/props/verdict.hpp"

#include <cmath>
#include <limits>
#include <tuple>

namespace sextant {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::fail:
      return "fail";
    case Verdict::crashed:
      return "crashed";
    case Verdict::mistrusted:
      return "mistrusted";
    case Verdict::undecided:
      return "undecided";
    case Verdict::pass:
      return "pass";
    case Verdict::unavailable:
      return "unavailable";
    case Verdict::unsupported:
      return "unsupported";
  }
  return "?";
}

double Measure::share() const {
  if (!witness) return 0;
  if (bound > 0) return worst / bound;
  return worst == 0 ? 0 : std::numeric_limits<double>::infinity();
}

void Measure::take(double error, double limit, const Witness& where) {
  if (!std::isfinite(limit)) return skip();  // a bound that overflows says nothing
  if (witness && error <= limit && error * bound < worst * limit * (1 - 0x1p-50)) {
    ++elements;  // surely not the largest share
    return;
  }
  Measure one;
  one.worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  one.bound = limit;
  one.witness = where;
  one.elements = 1;
  *this += one;
}

Measure& Measure::operator+=(const Measure& other) {
  elements += other.elements;
  no_claim += other.no_claim;
  if (unit.empty()) unit = other.unit;
  if (!other.witness) return *this;
  const auto place = [](const Witness& w) { return std::tie(w.position, w.pair, w.function); };
  const bool larger = !witness || other.share() > share() ||
                      (other.share() == share() && place(*other.witness) < place(*witness));
  if (larger) {
    worst = other.worst;
    bound = other.bound;
    witness = other.witness;
  }
  return *this;
}

Outcome judged(Measure measure) {
  Outcome outcome;
  outcome.verdict = measure.share() > 1 ? Verdict::fail : Verdict::pass;
  if (outcome.verdict == Verdict::pass && measure.elements == 0) {
    outcome.verdict = Verdict::mistrusted;
    outcome.reason =
        measure.no_claim > 0 ? "the contract makes no claim on any element" : "no element was checked";
  }
  outcome.measure = std::move(measure);
  return outcome;
}

Outcome unsupported(std::string reason) { return {Verdict::unsupported, {}, std::move(reason)}; }

}  // namespace sextant
