package route

import "github.com/ibkit/ibkit/ib"

// PathSLs has path service levels.
type PathSLs struct {
	levels map[*Port][]uint8 // for the paths from a port, by destination LID
	Most   uint8             // highest service level
}

// UnknownSL is the entry for a path with an unknown service level.
const UnknownSL = 0xff

// Set sets the service level for the path from a port to a LID.
func (s *PathSLs) Set(from *Port, to ib.LID, sl uint8) {
	if s.levels == nil {
		s.levels = map[*Port][]uint8{}
	}
	levels := s.levels[from]
	for len(levels) <= int(to) {
		levels = append(levels, UnknownSL)
	}
	levels[to] = sl
	s.levels[from] = levels
	s.Most = max(s.Most, sl)
}

// Of returns the service level for the path from a port to a LID.
func (s *PathSLs) Of(from *Port, to ib.LID) (sl uint8, known bool) {
	if s == nil {
		return 0, false
	}
	levels := s.levels[from]
	if int(to) >= len(levels) || levels[to] == UnknownSL {
		return 0, false
	}
	return levels[to], true
}

// From returns the service levels for the paths from a port, by destination LID, with
// UnknownSL; nil: all are unknown.
func (s *PathSLs) From(p *Port) []uint8 { return s.levels[p] }
