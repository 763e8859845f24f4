import { PartCount, type ProtoFile } from "./file.ts";
import { parseProtoText } from "./text.ts";

/**
 * The messages that every schema may use without an import from the registry: Google's well-known and common types, and Confluent's. They
 * are as their authors publish them, without comments and options.
 */
export function builtInFiles(): readonly ProtoFile[] {
  parsed ??= texts.map((text) => parseProtoText(text, new PartCount()));
  return parsed;
}

let parsed: readonly ProtoFile[] | null = null;

const wellKnown = `syntax = "proto3"; package google.protobuf;
message Any { string type_url = 1; bytes value = 2; }
message Duration { int64 seconds = 1; int32 nanos = 2; }
message Timestamp { int64 seconds = 1; int32 nanos = 2; }
message Empty {}
message FieldMask { repeated string paths = 1; }
message SourceContext { string file_name = 1; }
message Struct { map<string, Value> fields = 1; }
message Value {
  oneof kind {
    NullValue null_value = 1; double number_value = 2; string string_value = 3; bool bool_value = 4; Struct struct_value = 5;
    ListValue list_value = 6;
  }
}
enum NullValue { NULL_VALUE = 0; }
message ListValue { repeated Value values = 1; }
message DoubleValue { double value = 1; }
message FloatValue { float value = 1; }
message Int64Value { int64 value = 1; }
message UInt64Value { uint64 value = 1; }
message Int32Value { int32 value = 1; }
message UInt32Value { uint32 value = 1; }
message BoolValue { bool value = 1; }
message StringValue { string value = 1; }
message BytesValue { bytes value = 1; }`;

const googleTypes = `syntax = "proto3"; package google.type;
message Date { int32 year = 1; int32 month = 2; int32 day = 3; }
message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }
message TimeZone { string id = 1; string version = 2; }
message DateTime {
  int32 year = 1; int32 month = 2; int32 day = 3; int32 hours = 4; int32 minutes = 5; int32 seconds = 6; int32 nanos = 7;
  oneof time_offset { google.protobuf.Duration utc_offset = 8; TimeZone time_zone = 9; }
}
message Interval { google.protobuf.Timestamp start_time = 1; google.protobuf.Timestamp end_time = 2; }
message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }
message Decimal { string value = 1; }
message Fraction { int64 numerator = 1; int64 denominator = 2; }
message LatLng { double latitude = 1; double longitude = 2; }
message LocalizedText { string text = 1; string language_code = 2; }
message Color { float red = 1; float green = 2; float blue = 3; google.protobuf.FloatValue alpha = 4; }
message Expr { string expression = 1; string title = 2; string description = 3; string location = 4; }
message Quaternion { double x = 1; double y = 2; double z = 3; double w = 4; }
message PhoneNumber {
  message ShortCode { string region_code = 1; string number = 2; }
  oneof kind { string e164_number = 1; ShortCode short_code = 2; }
  string extension = 3;
}
message PostalAddress {
  int32 revision = 1; string region_code = 2; string language_code = 3; string postal_code = 4; string sorting_code = 5;
  string administrative_area = 6; string locality = 7; string sublocality = 8; repeated string address_lines = 9;
  repeated string recipients = 10; string organization = 11;
}
enum DayOfWeek {
  DAY_OF_WEEK_UNSPECIFIED = 0; MONDAY = 1; TUESDAY = 2; WEDNESDAY = 3; THURSDAY = 4; FRIDAY = 5; SATURDAY = 6; SUNDAY = 7;
}
enum Month {
  MONTH_UNSPECIFIED = 0; JANUARY = 1; FEBRUARY = 2; MARCH = 3; APRIL = 4; MAY = 5; JUNE = 6; JULY = 7; AUGUST = 8; SEPTEMBER = 9;
  OCTOBER = 10; NOVEMBER = 11; DECEMBER = 12;
}
enum CalendarPeriod {
  CALENDAR_PERIOD_UNSPECIFIED = 0; DAY = 1; WEEK = 2; FORTNIGHT = 3; MONTH = 4; QUARTER = 5; HALF = 6; YEAR = 7;
}`;

const confluentMeta = `syntax = "proto3"; package confluent;
message Meta { string doc = 1; map<string, string> params = 2; repeated string tags = 3; }`;

const confluentTypes = `syntax = "proto3"; package confluent.type;
message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }
message Variant { bytes metadata = 1; bytes value = 2; }`;

const texts = [wellKnown, googleTypes, confluentMeta, confluentTypes];
