/* JSON parsed by RapidJSON. Numbers are passed on as text, to avoid double rounding. */
#include "modules/json/parse.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

namespace
{

/* Text in memory, without a terminator. */
class Text
{
  public:
    typedef char Ch;

    Text(const char *begin_, const char *end_) : at(begin_), begin(begin_), end(end_) {}
    const char *Position() const { return at; }
    const char *Begin() const { return begin; }

    Ch Peek() const { return at < end ? *at : '\0'; }
    Ch Take() { return at < end ? *at++ : '\0'; }
    size_t Tell() const { return static_cast<size_t>(at - begin); }
    Ch *PutBegin() { return nullptr; }
    void Put(Ch) {}
    void Flush() {}
    size_t PutEnd(Ch *) { return 0; }

  private:
    const char *at, *begin, *end;
};

class Teller
{
  public:
    Teller(const Text &text_, const json_handler &to_) : text(text_), to(to_) {}

    bool Null() { return to.null(to.self); }
    bool Bool(bool value) { return to.truth(to.self, value); }
    bool Int(int) { return false; } /* numbers are passed as text */
    bool Uint(unsigned) { return false; }
    bool Int64(int64_t) { return false; }
    bool Uint64(uint64_t) { return false; }
    bool Double(double) { return false; }

    /* Get the number's text from the input, because the copy passed here lacks NaN. */
    bool RawNumber(const char *, rapidjson::SizeType, bool)
    {
        const char *first = text.Position();
        while (first > text.Begin() && is_in_number(first[-1]))
            first--;
        return to.number(to.self, text.Position(), first);
    }

    bool String(const char *value, rapidjson::SizeType size, bool)
    {
        return to.string(to.self, text.Position(), value, size);
    }
    bool Key(const char *key, rapidjson::SizeType size, bool) { return to.key(to.self, key, size); }
    bool StartObject() { return to.open(to.self, text.Position(), true); }
    bool EndObject(rapidjson::SizeType) { return to.close(to.self); }
    bool StartArray() { return to.open(to.self, text.Position(), false); }
    bool EndArray(rapidjson::SizeType) { return to.close(to.self); }

  private:
    const Text &text;
    const json_handler &to;

    static bool is_in_number(char c)
    {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' ||
               c == '.';
    }
};

} // namespace

json_result json_parse(const char **at, const char *end, const json_handler *handler, const char **why)
{
    using namespace rapidjson;
    const unsigned flags =
        kParseIterativeFlag | kParseStopWhenDoneFlag | kParseNumbersAsStringsFlag | kParseNanAndInfFlag;
    Text text(*at, end);
    Teller teller(text, *handler);
    Reader reader;
    const ParseResult result = reader.Parse<flags>(text, teller);
    *at = text.Position();
    if (!result.IsError()) return JSON_VALUE;
    if (result.Code() == kParseErrorTermination) return JSON_STOPPED;
    if (text.Position() == end) return JSON_CUT;
    *at = text.Begin() + result.Offset();
    const bool control = result.Code() == kParseErrorStringEscapeInvalid && **at >= 0 && **at < ' ';
    *why = control ? "a line break or a control character in a string" : GetParseError_En(result.Code());
    return JSON_INVALID;
}
