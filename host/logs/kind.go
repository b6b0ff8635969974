package logs

import "reflect"

// stringKind gives the text of a value whose type is a kind of text, such as a reason.
func stringKind(v any) (string, bool) {
	if r := reflect.ValueOf(v); r.IsValid() && r.Kind() == reflect.String {
		return r.String(), true
	}
	return "", false
}
