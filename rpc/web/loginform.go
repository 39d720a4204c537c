package web

import "bytes"

// readLogin reads the fields of the form for logging in, and unescapes them in their place. The password is a part of
// the body, which the caller is to overwrite. url.ParseQuery would leave copies of the password in memory.
func readLogin(body []byte) (user string, password []byte, ok bool) {
	hasUser, hasPassword := false, false
	for field := range bytes.SplitSeq(body, []byte("&")) {
		if bytes.IndexByte(field, ';') >= 0 {
			return "", nil, false
		}
		name, value, _ := bytes.Cut(field, []byte("="))
		key, okay := unescape(name)
		text, fine := unescape(value)
		switch {
		case !okay || !fine:
			return "", nil, false
		case string(key) == "user" && !hasUser:
			user, hasUser = string(text), true
		case string(key) == "password" && !hasPassword:
			password, hasPassword = text, true
		}
	}
	return user, password, true
}

// unescape returns what a part of a form stands for, in the memory of the part.
func unescape(part []byte) (text []byte, ok bool) {
	text = part[:0]
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
