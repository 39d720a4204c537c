package options

import (
	"fmt"
	"strings"
)

// blanks are what Core trims around names and values.
const blanks = " \t\r\n"

// entry is one line "name=value" of a configuration file. Its name bears the
// section it stands in.
type entry struct{ name, text string }

// parseConfig splits the text of a configuration file into its entries and the
// places where sections begin.
func parseConfig(text, file string) ([]entry, []Section, error) {
	var (
		entries  []entry
		sections []Section
		prefix   string
		number   int
	)
	for line := range strings.Lines(text) {
		number++
		line, _, hash := strings.Cut(line, "#")
		line = strings.Trim(line, blanks)
		switch {
		case line == "":
		case line[0] == '[' && line[len(line)-1] == ']':
			name := line[1 : len(line)-1]
			sections = append(sections, Section{name, file, number})
			prefix = name + "."
		case line[0] == '-':
			const more = ", options in configuration file must be specified without leading -"
			return nil, nil, badLine(number, line, more)
		default:
			e, err := parseEntry(line, number, hash)
			if err != nil {
				return nil, nil, err
			}
			if dot := strings.LastIndexByte(e.name, '.'); dot >= 0 {
				sections = append(sections, Section{prefix + e.name[:dot], file, number})
			}
			e.name = prefix + e.name
			entries = append(entries, e)
		}
	}
	return entries, sections, nil
}

// parseEntry reads a line "name=value"; hash says that a comment was cut off.
func parseEntry(line string, number int, hash bool) (entry, error) {
	name, text, ok := strings.Cut(line, "=")
	if !ok {
		if strings.HasPrefix(line, "no") {
			more := ", if you intended to specify a negated option, use " + line + "=1 instead"
			return entry{}, badLine(number, line, more)
		}
		return entry{}, badLine(number, line, "")
	}
	name, text = strings.Trim(name, blanks), strings.Trim(text, blanks)
	if hash && strings.Contains(name, "rpcpassword") {
		return entry{}, errorf(
			"parse error on line %d, using # in rpcpassword can be ambiguous and should be avoided", number,
		)
	}
	return entry{name, text}, nil
}

// badLine returns the error of a line that cannot be parsed. The log gets the line's number without its
// text, which may be a password whose name was mistyped.
func badLine(number int, line, more string) error {
	place := fmt.Sprintf("parse error on line %d", number)
	return &Error{Text: place + ": " + line + more, logged: place}
}

// Marks that editors put before a text. Core takes the first for a part of the first name, which
// it then does not know: the node would start on the main chain although the file names another.
const (
	markUTF8    = "\xef\xbb\xbf"
	markUTF16LE = "\xff\xfe"
	markUTF16BE = "\xfe\xff"
)

// plainText returns a text without the mark of its encoding.
func plainText(text string) (string, error) {
	if strings.HasPrefix(text, markUTF16LE) || strings.HasPrefix(text, markUTF16BE) {
		return "", errorf("the file is in UTF-16; save it as UTF-8")
	}
	return strings.TrimPrefix(text, markUTF8), nil
}

// addConfig takes the entries of one configuration file in.
func (s *Settings) addConfig(text, file string) error {
	text, err := plainText(text)
	if err != nil {
		return err
	}
	entries, sections, err := parseConfig(text, file)
	if err != nil {
		return err
	}
	s.sections = append(s.sections, sections...)
	for _, e := range entries {
		if err := s.addEntry(e); err != nil {
			return err
		}
	}
	return nil
}

func (s *Settings) addEntry(e entry) error {
	k := parseKey(e.name)
	switch k.name {
	case "conf":
		return errorf("conf cannot be set in the configuration file; use includeconf= if you want to include " +
			"additional config files")
	case "dialect":
		return errorf("dialect cannot be set in the configuration file; use -dialect on the command line")
	case "reindex":
		s.remark(Note, "Warning: reindex=1 is set in the configuration file, which will significantly slow down "+
			"startup. Consider removing or commenting out this option for better performance, "+
			"unless there is currently a condition which makes rebuilding the indexes necessary")
	}
	option, ok := s.options[k.name]
	if !ok {
		s.remark(Warning, "Ignoring unknown configuration value %s", e.name)
		return nil
	}
	v, err := s.interpret(k, option, e.text, true)
	if err != nil {
		return err
	}
	if s.config[k.section] == nil {
		s.config[k.section] = map[string]span{}
	}
	s.config[k.section][k.name] = append(s.config[k.section][k.name], v)
	return nil
}
