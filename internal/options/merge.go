package options

import "slices"

// source is where values come from, in falling precedence.
type source uint8

const (
	fromForce source = iota
	fromCommandLine
	fromSettingsFile
	fromNetworkSection
	fromDefaultSection
)

func (src source) isConfig() bool { return src >= fromNetworkSection }

// merge calls visit with the values of an option from each source that has
// some, the strongest source first.
func (s *Settings) merge(name string, section Chain, visit func(span, source)) {
	if v, ok := s.forced[name]; ok {
		visit(span{v}, fromForce)
	}
	if values, ok := s.commandLine[name]; ok {
		visit(values, fromCommandLine)
	}
	if values, ok := s.settingsFile[name]; ok {
		visit(values, fromSettingsFile)
	}
	if section != "" {
		if values, ok := s.config[string(section)][name]; ok {
			visit(values, fromNetworkSection)
		}
	}
	if values, ok := s.config[""][name]; ok {
		visit(values, fromDefaultSection)
	}
}

// lookup finds the one value that counts.
func (s *Settings) lookup(name string) (v value, found bool) {
	option := s.mustKnow(name)
	s.merge(name, s.chain, func(values span, src source) {
		// A negation in the default section counts even where other
		// values there do not.
		if found || (s.skipsDefault(option) && src == fromDefaultSection && !values.lastNegated()) {
			return
		}
		switch live := values.live(); {
		case len(live) == 0:
			v, found = value{kind: negated}, true
		case src.isConfig():
			v, found = live[0], true
		default:
			v, found = live[len(live)-1], true
		}
	})
	return v, found && v.kind != unset
}

// list finds all values that count. A negation hides the values of weaker
// sources. The exception is Core's: a negation on the command line that new
// values follow there lets the file's values through again.
func (s *Settings) list(name string) []value {
	option := s.mustKnow(name)
	var (
		all          []value
		done         bool
		negatedEmpty bool
	)
	s.merge(name, s.chain, func(values span, src source) {
		if s.skipsDefault(option) && src == fromDefaultSection {
			return
		}
		if !done || (src.isConfig() && !negatedEmpty) {
			all = append(
				all, slices.DeleteFunc(slices.Clone(values.live()), func(v value) bool { return v.kind == unset })...,
			)
		}
		done = done || values.dead() > 0 || src == fromForce
		negatedEmpty = negatedEmpty || (values.lastNegated() && len(all) == 0)
	})
	return all
}

// skipsDefault reports whether values in the default section of the file do
// not count for an option on the selected network.
func (s *Settings) skipsDefault(o *Option) bool {
	return o.has(NetworkOnly) && s.chain != Main
}

// chainFlag reads one of -regtest, -testnet and their like, for which a
// negation on the command line is ignored and the last value in the file wins.
func (s *Settings) chainFlag(name string) bool {
	var on, found bool
	s.merge(name, "", func(values span, _ source) {
		if found || values.lastNegated() {
			return
		}
		live := values.live()
		on, found = live[len(live)-1].bool(), true
	})
	return on
}

// Misplaced returns the options that are set in the default section of the
// file only and therefore do not count on the selected network, in the table's
// order. Core refuses to start on them.
func (s *Settings) Misplaced() []string {
	if s.chain == "" || s.chain == Main {
		return nil
	}
	var names []string
	for _, name := range s.order {
		if s.options[name].has(NetworkOnly) && s.onlyInDefaultSection(name) {
			names = append(names, name)
		}
	}
	return names
}

func (s *Settings) onlyInDefaultSection(name string) bool {
	var inDefault, elsewhere bool
	s.merge(name, s.chain, func(values span, src source) {
		switch {
		case values.lastNegated():
		case src == fromDefaultSection:
			inDefault = true
		default:
			elsewhere = true
		}
	})
	return inDefault && !elsewhere
}
