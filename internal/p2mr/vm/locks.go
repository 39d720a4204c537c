package vm

import (
	"bytes"
	"crypto/sha256"

	"github.com/btcsuite/btcd/wire"
)

// lockTimeBlocks is the first lock time that is a time, not a height.
const lockTimeBlocks = 500_000_000

// operand reads the top of the stack, which stays there, for a check of locks.
func (m *machine) operand() (int64, error) {
	if len(m.stack) == 0 {
		return 0, ErrStackOperation
	}
	n, err := number(m.top(0), lockLen, m.spend.Rules.Policy)
	if err == nil && n < 0 {
		return 0, ErrNegativeLockTime
	}
	return n, err
}

// checkLockTime is BIP65.
func (m *machine) checkLockTime() error {
	want, err := m.operand()
	if err != nil {
		return err
	}
	have := int64(m.spend.Tx.LockTime)
	if (want < lockTimeBlocks) != (have < lockTimeBlocks) || want > have ||
		m.spend.Tx.TxIn[m.spend.Input].Sequence == wire.MaxTxInSequenceNum {
		return ErrLockTime
	}
	return nil
}

// checkSequence is BIP112.
func (m *machine) checkSequence() error {
	want, err := m.operand()
	if err != nil || want&int64(wire.SequenceLockTimeDisabled) != 0 {
		return err
	}
	const mask = wire.SequenceLockTimeIsSeconds | wire.SequenceLockTimeMask
	have := m.spend.Tx.TxIn[m.spend.Input].Sequence
	want &= mask
	masked := int64(have & mask)
	const kind = wire.SequenceLockTimeIsSeconds
	if uint32(m.spend.Tx.Version) < 2 || have&wire.SequenceLockTimeDisabled != 0 ||
		(want < kind) != (masked < kind) || want > masked {
		return ErrLockTime
	}
	return nil
}

// checkTemplate is BIP119.
func (m *machine) checkTemplate() error {
	if len(m.stack) == 0 {
		return ErrStackOperation
	}
	want := m.top(0)
	if len(want) != sha256.Size {
		if m.spend.Rules.Policy {
			return ErrUpgradableSuccess
		}
		return nil
	}
	if have := NewTemplate(m.spend.Tx).Hash(m.spend.Input); !bytes.Equal(have[:], want) {
		return ErrTemplate
	}
	return nil
}
