package differ

import (
	"regexp"
	"strings"
)

// helpArgument is a line of a help text that begins an argument: its place, if it has one, and its
// name.
var helpArgument = regexp.MustCompile(`^(?:(\d+)\. )?(\S+) +\(`)

// Usage returns the usage line of a method's help text, in the form of Bitcoin Core's, and a line for each argument
// with its place and its name. An argument that has only a name has "-" in the place of its place.
func Usage(help string) string {
	lines := strings.Split(help, "\n")
	var text strings.Builder
	text.WriteString(lines[0] + "\n")
	section := ""
	for _, line := range lines[1:] {
		switch {
		case line == "Arguments:" || line == "Named Arguments:":
			section = line
		case strings.HasPrefix(line, "Result") || strings.HasPrefix(line, "Examples"):
			section = ""
		}
		m := helpArgument.FindStringSubmatch(line)
		if section == "" || m == nil || m[1] == "" && section == "Arguments:" {
			continue
		}
		place := m[1]
		if place == "" {
			place = "-"
		}
		text.WriteString("  " + place + " " + m[2] + "\n")
	}
	return text.String()
}
