package arg

import (
	"slices"
	"strconv"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// PSBTVersionParam declares the version of the partially signed transaction that a method makes, of those of the
// network with the default first.
func PSBTVersionParam(versions []uint32) command.Param {
	return command.Param{
		Name: "psbt_version", Type: command.Number, Default: strconv.FormatUint(uint64(versions[0]), 10), Since: 32,
		Help: "version of the format: 0 (BIP174) or 2 (BIP370)",
	}
}

// PSBTVersion reads the argument that [PSBTVersionParam] declares.
func PSBTVersion(v *jsontree.Value, versions []uint32) (uint32, error) {
	if v.IsNull() {
		return versions[0], nil
	}
	version, err := v.AsUint32()
	if err != nil {
		return 0, err
	}
	if !slices.Contains(versions, version) {
		text := "The PSBT version can only be 0"
		if len(versions) > 1 {
			text = "The PSBT version can only be 2 or 0"
		}
		return 0, command.Error{Code: command.InvalidParameter, Message: text}
	}
	return version, nil
}
