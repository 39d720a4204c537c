package options

import "strings"

// key is an option's name as written: [section.][no]name.
type key struct {
	section, name string
	negated       bool
}

func parseKey(text string) key {
	var k key
	if section, rest, ok := strings.Cut(text, "."); ok {
		k.section, text = section, rest
	}
	k.name, k.negated = strings.CutPrefix(text, "no")
	return k
}

// ParseArgs reads a command line, without the program's name. Options end at
// the first word that has no dash; that word and all after it are [Settings.Words].
//
// Errors are of type [*Error].
func (s *Settings) ParseArgs(args []string) error {
	for i, arg := range args {
		if arg == "-" {
			s.words = args[i+1:]
			break
		}
		if !strings.HasPrefix(arg, "-") {
			s.words = args[i:]
			break
		}
		if err := s.parseArg(arg); err != nil {
			return err
		}
	}
	if err := s.checkDialect(); err != nil {
		return err
	}
	if included := s.commandLine["includeconf"].live(); len(included) > 0 {
		return errorf("-includeconf cannot be used from commandline; -includeconf=%s", included[0].json())
	}
	return nil
}

// cutArg splits an argument at its equals sign, and takes the dashes away.
func cutArg(arg string) (name, text string, hasValue bool) {
	name, text, hasValue = strings.Cut(arg, "=")
	name = strings.TrimPrefix(name, "-")
	return strings.TrimPrefix(name, "-"), text, hasValue // --name is -name
}

func (s *Settings) parseArg(arg string) error {
	name, text, hasValue := cutArg(arg)
	k := parseKey(name)
	option, ok := s.options[k.name]
	if !ok || k.section != "" {
		return errorf("Invalid parameter %s", arg)
	}
	v, err := s.interpret(k, option, text, hasValue)
	if err != nil {
		return err
	}
	s.commandLine[k.name] = append(s.commandLine[k.name], v)
	if option.Until != 0 {
		s.retiring = append(s.retiring, arg)
	}
	return nil
}

// interpret makes a value of a key and the text behind its equals sign.
func (s *Settings) interpret(k key, option *Option, text string, hasValue bool) (value, error) {
	switch {
	case k.negated && option.has(NoNegation):
		return value{}, errorf("Negating of -%s is meaningless and therefore forbidden", k.name)
	case k.negated && hasValue && !parseBool(text):
		s.remark(Note, "Warning: parsed potentially confusing double-negative -%s=%s", k.name, shown(option, text))
		return value{kind: doubled}, nil
	case k.negated:
		return value{kind: negated}, nil
	case !hasValue && option.has(NeedsValue):
		return value{}, errorf("Can not set -%s with no value. Please specify value with -%s=value.", k.name, k.name)
	default:
		return value{text: text}, nil
	}
}

// shown is text, unless it is a secret.
func shown(option *Option, text string) string {
	if option.has(Sensitive) {
		return mask
	}
	return text
}
