package netrpc

import (
	"fmt"
	"strings"
)

const (
	// ownName is the node's own part.
	ownName = "Trawl"

	maxSubversionLen = 256
)

// A SubversionError says why comments cannot be part of a subversion, in Core's
// words and meant for the operator.
type SubversionError string

// Error implements error.
func (e SubversionError) Error() string { return string(e) }

// Subversion returns how the node calls itself towards peers and clients:
// as the reference node, whose name and version agent is, then as itself with its
// version and the given comments.
//
// Errors: [SubversionError].
//
// Source: BIP14.
func Subversion(agent string, comments []string, version string) (string, error) {
	for _, comment := range comments {
		if strings.ContainsFunc(comment, isUnsafe) {
			return "", SubversionError("User Agent comment (" + comment + ") contains unsafe characters.")
		}
	}
	subversion := "/" + agent + "/" + ownName + ":" + version
	if len(comments) > 0 {
		subversion += "(" + strings.Join(comments, "; ") + ")"
	}
	subversion += "/"
	if len(subversion) > maxSubversionLen {
		return "",
			SubversionError(fmt.Sprintf("Total length of network version string (%d) exceeds maximum length (%d). "+
				"Reduce the number or size of uacomments.", len(subversion), maxSubversionLen))
	}
	return subversion, nil
}

// isUnsafe reports whether a character must not be in a comment.
func isUnsafe(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune(" .,;-_?@", r)
}
