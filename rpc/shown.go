package rpc

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxShown is how much of a caller's text is logged, in bytes.
const maxShown = 100

// shown returns a caller's text for the log, cut after at most maxShown bytes.
// Line ends are escaped, because they would begin a line of the log, and
// backslashes, because they would look like an escape.
func shown(text string) string {
	cut := len(text)
	if cut > maxShown {
		cut = maxShown
		for cut > maxShown-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
			cut--
		}
	}
	out := strings.NewReplacer("\\", `\\`, "\n", `\n`, "\r", `\r`).Replace(text[:cut])
	if cut < len(text) {
		out += "… (" + strconv.Itoa(len(text)) + " bytes)"
	}
	return out
}

// maxID is the longest id of a request that the log shows, in bytes: that of a UUID. A longer one may be a key.
const maxID = 36

// shownID is the id of a request as the log shows it: letters, digits, spaces and the signs that Core shows.
func shownID(text string) string {
	if len(text) > maxID {
		return "(" + strconv.Itoa(len(text)) + " bytes)"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune(" .,;-_/:?@()", r):
			return r
		}
		return -1
	}, text)
}
