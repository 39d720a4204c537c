package bip39

import "strings"

// Check holds words against the list and their checksum.
func Check(words string) error { return check(strings.Fields(words)) }
