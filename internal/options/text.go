package options

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// mask stands for a secret in the log.
const mask = "****"

// Listing returns one line for every value that was given, for the log. Values of the
// configuration files come first, by section, then the settings file, then the command
// line, each sorted by name. Secrets are masked.
func (s *Settings) Listing() []string {
	var lines []string
	for _, section := range slices.Sorted(maps.Keys(s.config)) {
		prefix := "Config file arg: "
		if section != "" {
			prefix += "[" + section + "] "
		}
		lines = s.appendListing(lines, prefix, s.config[section])
	}
	for _, m := range s.settingsRead {
		text := compactJSON(m.value)
		if s.isSecret(m.name) {
			text = mask
		}
		lines = append(lines, "Setting file arg: "+m.name+" = "+text)
	}
	return s.appendListing(lines, "Command-line arg: ", s.commandLine)
}

// isSecret reports whether the value of an option is to be masked; it guesses for a
// misspelt name.
func (s *Settings) isSecret(name string) bool {
	if o := s.options[name]; o != nil {
		return o.has(Sensitive)
	}
	return strings.Contains(name, "pas") || strings.Contains(name, "auth") || strings.Contains(name, "user")
}

func compactJSON(text []byte) string {
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return "?" // it was parsed
	}
	return compact.String()
}

func (s *Settings) appendListing(lines []string, prefix string, values map[string]span) []string {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, v := range values[name] {
			text := v.json()
			if s.options[name].has(Sensitive) {
				text = mask
			}
			lines = append(lines, prefix+name+"="+text)
		}
	}
	return lines
}

// json is the value as Core stores it: negations are booleans, the rest text.
func (v value) json() string {
	switch v.kind {
	case negated:
		return "false"
	case doubled:
		return "true"
	default:
		return quote(v.text)
	}
}

// quote writes text as a JSON string.
func quote(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil { // never, for a string
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
