package scriptindex

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
)

const (
	manifestName = "manifest"
	maxManifest  = 1 << 20
	manifestHead = 72 // bytes before the list of tables
	tableRow     = 4 + 4 + chainhash.HashSize

	formatVersion = 1
)

var manifestMagic = []byte("TRAWLSCM")

// A manifest names the files of a store.
type manifest struct {
	network [4]byte
	key     [16]byte // keyCheck of the secret
	numbers uint32   // of files: the last that was taken
	log     uint32
	base    Position
	tables  []tableName
}

// A tableName is a table's number, and the last block that it was made of.
type tableName struct {
	number uint32
	last   Position
}

// keyCheck tells secrets apart.
func keyCheck(secret *[secretSize]byte) (check [16]byte) {
	sum := sha256.Sum256(append([]byte("script index key "), secret[:]...))
	copy(check[:], sum[:])
	return check
}

func (m *manifest) encode() []byte {
	le := binary.LittleEndian
	b := append([]byte(nil), manifestMagic...)
	b = le.AppendUint32(b, formatVersion)
	b = append(b, m.network[:]...)
	b = append(b, m.key[:]...)
	b = le.AppendUint32(b, m.numbers)
	b = le.AppendUint32(b, m.log)
	b = appendPosition(b, m.base)
	for _, t := range m.tables {
		b = appendPosition(le.AppendUint32(b, t.number), t.last)
	}
	return le.AppendUint32(b, checksum(b))
}

func appendPosition(b []byte, at Position) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(at.Height)), at.Hash[:]...)
}

func parsePosition(b []byte) Position {
	return Position{chainhash.Hash(b[4:]), int32(binary.LittleEndian.Uint32(b))}
}

// decodeManifest is the inverse of encode. Errors: ErrDamaged, ErrNewer.
func decodeManifest(b []byte) (m manifest, err error) {
	le := binary.LittleEndian
	n := len(b) - 4
	if n < manifestHead+4 || !bytes.HasPrefix(b, manifestMagic) || le.Uint32(b[n:]) != checksum(b[:n]) ||
		(n-manifestHead-4)%tableRow != 0 {
		return m, fmt.Errorf("%w: manifest", ErrDamaged)
	}
	if v := le.Uint32(b[8:]); v != formatVersion {
		return m, fmt.Errorf("script index of version %d: %w", v, ErrNewer)
	}
	copy(m.network[:], b[12:])
	copy(m.key[:], b[16:])
	m.numbers, m.log, m.base = le.Uint32(b[32:]), le.Uint32(b[36:]), parsePosition(b[40:])
	for rows := b[manifestHead+4 : n]; len(rows) > 0; rows = rows[tableRow:] {
		m.tables = append(m.tables, tableName{le.Uint32(rows), parsePosition(rows[4:])})
	}
	return m, nil
}

// commit makes tables, their end and the blocks behind it what is on the disk, with a log of its own. After an error
// either that or what was before is there. s.changing is held.
func (s *Store) commit(tables []*table, base Position, pending []block) error {
	number := s.numbers.Add(1)
	raw, sum := logHeader(number), number
	for _, p := range pending {
		raw, sum = appendRecord(raw, sum, recordBlock, p.Position, p.keys)
	}
	path := s.path(number, logName)
	if err := vfs.ReplaceFile(s.o.FS, path, raw, 0o600); err != nil {
		return fmt.Errorf("log of the script index: %w", err)
	}
	file, err := s.o.FS.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("log of the script index: %w", err)
	}
	m := manifest{
		network: s.o.Network, key: keyCheck(&s.secret), numbers: s.numbers.Load(), log: number, base: base,
	}
	for _, t := range tables {
		m.tables = append(m.tables, tableName{t.number, t.last})
	}
	if err := s.writeManifest(&m); err != nil {
		s.log.broken = true // it is not known which log counts
		return errors.Join(err, file.Close())
	}
	old := s.log
	s.log = logFile{number: number, file: file, end: int64(len(raw)), sum: sum, blocks: len(pending)}
	err = old.close()
	s.remove(old.number, logName)
	return err
}

func (s *Store) writeManifest(m *manifest) error {
	if err := vfs.ReplaceFile(s.o.FS, filepath.Join(s.o.Dir, manifestName), m.encode(), 0o600); err != nil {
		return fmt.Errorf("manifest of the script index: %w", err)
	}
	return nil
}

// Kinds of files, by the ends of their names.
const (
	logName  = "log"
	tabName  = "tab"
	nameForm = "%08d.%s"
)

func (s *Store) path(number uint32, kind string) string {
	return filepath.Join(s.o.Dir, fmt.Sprintf(nameForm, number, kind))
}

// remove removes a file. A file that stays is removed when the store is opened.
func (s *Store) remove(number uint32, kind string) {
	if err := s.o.FS.Remove(s.path(number, kind)); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.o.Log.Warn("file of the script index cannot be removed", "err", err)
	}
}
