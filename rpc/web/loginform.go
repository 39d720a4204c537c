package web

import "bytes"

// readLogin reads the fields of the form for logging in. It makes no text of the password, which the caller is to
// overwrite: url.ParseQuery would leave copies of it in memory.
func readLogin(body []byte) (user string, password []byte, ok bool) {
	hasUser := false
	for field := range bytes.SplitSeq(body, []byte("&")) {
		name, value, _ := bytes.Cut(field, []byte("="))
		key, okay := unescaped(name)
		text, fine := unescaped(value)
		switch {
		case !okay || !fine || bytes.IndexByte(field, ';') >= 0:
			clear(text)
			clear(password)
			return "", nil, false
		case string(key) == "user" && !hasUser:
			user, hasUser = string(text), true
		case string(key) == "password" && password == nil:
			password = text
			continue
		}
		clear(text)
	}
	return user, password, true
}

// unescaped returns what a part of a form stands for, in memory of its own.
func unescaped(part []byte) (text []byte, ok bool) {
	text = make([]byte, 0, len(part))
	for i := 0; i < len(part); i++ {
		switch c := part[i]; {
		case c == '+':
			text = append(text, ' ')
		case c != '%':
			text = append(text, c)
		default:
			high, low := -1, -1
			if i+2 < len(part) {
				high, low = digit(part[i+1]), digit(part[i+2])
			}
			if high < 0 || low < 0 {
				clear(text)
				return nil, false
			}
			text = append(text, byte(high<<4|low))
			i += 2
		}
	}
	return text, true
}

// digit returns the value of a hexadecimal digit, -1 for any other byte.
func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
