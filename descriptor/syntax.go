package descriptor

import "strings"

// cutExpression splits text after its first expression, which ends before a
// comma or closing bracket that no bracket within it opened.
func cutExpression(text string) (expression, rest string) {
	level := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '(' || c == '{':
			level++
		case level > 0 && (c == ')' || c == '}'):
			level--
		case level == 0 && (c == ')' || c == '}' || c == ','):
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// cutCall returns what stands between the brackets of name(…). The expression
// must end with the closing bracket.
func cutCall(expression, name string) (args string, ok bool) {
	args, ok = strings.CutPrefix(expression, name+"(")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(args, ")")
}

// isHex reports whether text is a non-empty sequence of whole bytes in hex.
func isHex(text string) bool {
	if text == "" || len(text)%2 != 0 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}
