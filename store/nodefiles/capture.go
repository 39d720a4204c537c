package nodefiles

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// captureName is the folder of captured messages.
const captureName = "message_capture"

// Capture appends a message of a peer to the file of those that it has sent, or was sent. A
// peer has a folder that is named by its address, with _ for each colon. After an error the
// end of the file may be a part of the message.
func (f Files) Capture(peer string, at time.Time, command string, payload []byte, incoming bool) error {
	if f.Dir == "" {
		return nil
	}
	name := "msgs_sent.dat"
	if incoming {
		name = "msgs_recv.dat"
	}
	dir := filepath.Join(f.Dir, captureName, strings.ReplaceAll(peer, ":", "_"))
	if err := f.disk().MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := f.disk().OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(AppendCaptured(nil, at, command, payload))
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// AppendCaptured appends a message as Bitcoin Core captures it: microseconds since 1970 (8
// bytes), name (12), length (4) and payload; integers are little-endian.
func AppendCaptured(dst []byte, at time.Time, command string, payload []byte) []byte {
	var name [12]byte
	copy(name[:], command)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(at.UnixMicro()))
	dst = append(dst, name[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	return append(dst, payload...)
}
