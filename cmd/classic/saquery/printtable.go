package saquery

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/mad"
)

func printLink(q *query, r *mad.LinkRecord, _ []byte) error {
	q.title("LinkRecord dump:")
	q.dotted(long, "FromLID", decimal(r.FromLID))
	q.dotted(long, "FromPort", decimal(r.FromPort))
	q.dotted(long, "ToPort", decimal(r.ToPort))
	q.dotted(long, "ToLID", decimal(r.ToLID))
	return nil
}

func printSLtoVL(q *query, r *mad.SLtoVLMappingTableRecord, _ []byte) error {
	q.title("SL2VLTableRecord dump:")
	q.dotted(long, "LID", decimal(r.LID))
	q.dotted(long, "InPort", decimal(r.InPort))
	q.dotted(long, "OutPort", decimal(r.OutPort))
	q.title("\t\tSL: 0| 1| 2| 3| 4| 5| 6| 7| 8| 9|10|11|12|13|14|15|")
	q.out.WriteString("\t\tVL:")
	for _, vl := range r.Table.VL {
		fmt.Fprintf(q.out, "%2d|", vl)
	}
	q.out.WriteByte('\n')
	return nil
}

func printVLArbitration(q *query, r *mad.VLArbitrationTableRecord, _ []byte) error {
	q.title("VLArbTableRecord dump:")
	q.dotted(long, "LID", decimal(r.LID))
	q.dotted(long, "Port", decimal(r.Port))
	q.dotted(long, "Block", decimal(r.Block))
	const row = 16
	for entries := range slices.Chunk(r.Table.Entries[:], row) {
		q.out.WriteString("\t\tVL    :")
		for _, e := range entries {
			fmt.Fprintf(q.out, "%2d|", e.VL)
		}
		q.out.WriteString("\n\t\tWeight:")
		for _, e := range entries {
			fmt.Fprintf(q.out, "%2d|", e.Weight)
		}
		q.out.WriteByte('\n')
	}
	return nil
}

// printPKeys prints the block in host byte order, like the C tool: opensm sends it in its
// own host's byte order.
func printPKeys(q *query, r *mad.PKeyTableRecord, raw []byte) error {
	const offBlock = 2
	q.title("PKeyTableRecord dump:")
	q.dotted(long, "LID", decimal(r.LID))
	q.dotted(long, "Port", decimal(r.Port))
	q.dotted(long, "Block", decimal(binary.NativeEndian.Uint16(raw[offBlock:])))
	q.title("\t\tPKey Table:")
	const row = 8
	for keys := range slices.Chunk(r.Table.PKeys[:], row) {
		q.out.WriteString("\t\t")
		for i, key := range keys {
			if i > 0 {
				q.out.WriteByte(' ')
			}
			fmt.Fprint(q.out, key)
		}
		q.out.WriteByte('\n')
	}
	q.out.WriteByte('\n')
	return nil
}

func printLFT(q *query, r *mad.LinearForwardingTableRecord, _ []byte) error {
	q.title("LFT Record dump:")
	q.dotted(long, "LID", decimal(r.LID))
	q.dotted(long, "Block", decimal(r.Block))
	q.title("\t\tLFT:\n\t\tLID\tPort Number")
	for i, port := range r.Table.Ports {
		fmt.Fprintf(q.out, "\t\t%d\t%d\n", int(r.Block)*len(r.Table.Ports)+i, port)
	}
	q.out.WriteByte('\n')
	return nil
}

func printMFT(q *query, r *mad.MulticastForwardingTableRecord, _ []byte) error {
	const firstLID = 0xc000
	q.title("MFT Record dump:")
	q.dotted(long, "LID", decimal(r.LID))
	q.dotted(long, "Position", decimal(r.Position))
	q.dotted(long, "Block", decimal(r.Block))
	q.title("\t\tMFT:\n\t\tMLID\tPort Mask")
	for i, mask := range r.Table.Masks {
		fmt.Fprintf(q.out, "\t\t0x%04x\t0x%04x\n", firstLID+int(r.Block)*len(r.Table.Masks)+i, mask)
	}
	q.out.WriteByte('\n')
	return nil
}

func printGUIDs(q *query, r *mad.GUIDInfoRecord, _ []byte) error {
	q.title("GUIDInfo Record dump:")
	q.dotted(long, "LID", decimal(r.LID))
	q.dotted(long, "Block", decimal(r.Block))
	for i, guid := range r.Table.GUIDs {
		q.dotted(long, fmt.Sprintf("GUID %d", i), key(guid))
	}
	return nil
}
