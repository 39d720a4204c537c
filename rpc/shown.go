package rpc

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxShown is how much of a caller's text is logged, in bytes.
const maxShown = 100

// shown is text of a caller as the log has it: cut, and without line ends that
// would begin a line of the log, and without backslashes that would look like
// what stands for one.
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
