// What each scheme brings to the text form: its name, its keys and what is valid. A scheme is one more
// alternative of Encoding, one more set of these overloads, and a file of its name that defines them.
#pragma once
#include "sextant/reference/encoding.hpp"
#include "sextant/reference/text_form.hpp"

namespace sextant {

void read(text_form::Reader& reader, Rope& rope);
void read(text_form::Reader& reader, Sinusoidal& scheme);
void read(text_form::Reader& reader, Learned& scheme);
void read(text_form::Reader& reader, Shaw& scheme);
void read(text_form::Reader& reader, TransformerXl& scheme);
void read(text_form::Reader& reader, T5& scheme);
void read(text_form::Reader& reader, Deberta& scheme);
void read(text_form::Reader& reader, Alibi& scheme);
void read(text_form::Reader& reader, Nope& scheme);

void print(text_form::Printer& printer, const Rope& rope);
void print(text_form::Printer& printer, const Sinusoidal& scheme);
void print(text_form::Printer& printer, const Learned& scheme);
void print(text_form::Printer& printer, const Shaw& scheme);
void print(text_form::Printer& printer, const TransformerXl& scheme);
void print(text_form::Printer& printer, const T5& scheme);
void print(text_form::Printer& printer, const Deberta& scheme);
void print(text_form::Printer& printer, const Alibi& scheme);
void print(text_form::Printer& printer, const Nope& scheme);

/// Throws InputError with one line where a parameter lies outside the scheme's definition.
void check(const Rope& rope);
void check(const Sinusoidal& scheme);
void check(const Learned& scheme);
void check(const Shaw& scheme);
void check(const TransformerXl& scheme);
void check(const T5& scheme);
void check(const Deberta& scheme);
void check(const Alibi& scheme);
void check(const Nope& scheme);

}  // namespace sextant
