// Package script decides whether the inputs of a transaction may spend what they
// spend: it executes scripts and checks signatures, by the rules of consensus
// and by those of what nodes relay.
//
// The rules are Bitcoin's: legacy scripts, BIP16 (P2SH), BIP65 and BIP112 (lock
// times), BIP66 (strict signatures), BIP141 and BIP143 (witness version 0),
// BIP147 (empty dummies), BIP341 and BIP342 (taproot). Which of them hold is
// said by [Flags], and why a spend is refused by [Error], in Bitcoin Core's words.
//
// The package is pure. No script or witness makes it panic, and time and memory
// stay within what the rules allow a transaction of that size.
package script
