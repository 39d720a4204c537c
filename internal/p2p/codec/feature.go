package codec

import "fmt"

// The sizes of the name of a feature and of its data, in bytes (BIP434).
const (
	minFeatureID   = 4
	maxFeatureID   = 80
	maxFeatureData = 512
)

// FeatureID returns the name of the feature that a message feature advertises (BIP434). The
// data of the feature are not looked at.
//
// Errors: [ErrMalformed].
func FeatureID(payload []byte) (string, error) {
	c := cursor{b: payload}
	id := c.next(c.count(1))
	data := c.next(c.count(1))
	switch {
	case c.err != nil:
		return "", c.err
	case len(id) < minFeatureID, len(id) > maxFeatureID, len(data) > maxFeatureData, len(c.b) > 0:
		return "", fmt.Errorf("%w: feature of %d bytes, data of %d", ErrMalformed, len(id), len(data))
	}
	return string(id), nil
}
