package options

import (
	"maps"
	"slices"
)

// Retire treats options as unknown that a version of Bitcoin Core does not have any more: they are refused on the
// command line, and passed over in files. It is the last step of filling settings.
func Retire(s *Settings, version int) error {
	gone := func(name string) bool { until := s.mustKnow(name).Until; return until != 0 && until <= version }
	for _, arg := range s.retiring {
		name, _, _ := cutArg(arg)
		if gone(parseKey(name).name) {
			return errorf("Invalid parameter %s", arg)
		}
	}
	for _, section := range slices.Sorted(maps.Keys(s.config)) {
		values := s.config[section]
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if !gone(name) {
				continue
			}
			delete(values, name)
			if section != "" {
				name = section + "." + name
			}
			s.remark(Warning, "Ignoring unknown configuration value %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.settingsFile)) {
		if gone(name) {
			delete(s.settingsFile, name)
			s.remark(Warning, "Ignoring unknown rw_settings value %s", name)
		}
	}
	return nil
}
