package walletfile

// LegacyScript is the record of a script that outputs pay to by its hash.
type LegacyScript struct {
	ID     KeyID // as in the key; it need not be that of the script
	Script []byte
}

// Key returns the key of the record.
func (s LegacyScript) Key() []byte { return append(KeyPrefix("cscript"), s.ID[:]...) }

// Value returns the value of the record.
func (s LegacyScript) Value() []byte { return appendBytes(nil, s.Script) }

func parseLegacyScript(key, value *cursor) Entry {
	return LegacyScript{ID: key.keyID(), Script: cloneBytes(value.bytes())}
}

// WatchedScript is the record of an output script that is watched.
type WatchedScript struct {
	Script []byte
	Mark   byte // 1, as text, or the record does not count
}

// watchedMark is the mark of records that count.
const watchedMark = '1'

// NewWatchedScript returns the record of a script that is watched.
func NewWatchedScript(script []byte) WatchedScript {
	return WatchedScript{Script: script, Mark: watchedMark}
}

// Key returns the key of the record.
func (s WatchedScript) Key() []byte { return appendBytes(KeyPrefix("watchs"), s.Script) }

// Value returns the value of the record.
func (s WatchedScript) Value() []byte { return []byte{s.Mark} }

func parseWatchedScript(key, value *cursor) Entry {
	return WatchedScript{Script: cloneBytes(key.bytes()), Mark: value.uint8()}
}

// WatchedMeta is the record of the metadata of a script that is watched.
type WatchedMeta struct {
	Script []byte
	KeyMetadata
}

// Key returns the key of the record.
func (m WatchedMeta) Key() []byte { return appendBytes(KeyPrefix("watchmeta"), m.Script) }

// Value returns the value of the record.
func (m WatchedMeta) Value() []byte { return m.value() }

func parseWatchedMeta(key, value *cursor) Entry {
	return WatchedMeta{Script: cloneBytes(key.bytes()), KeyMetadata: value.keyMetadata()}
}
