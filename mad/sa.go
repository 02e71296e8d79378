package mad

// Attributes of subnet administration (InfiniBand Architecture, Volume 1,
// 15.2.5). Their numbers mean something else in other classes.
const (
	AttrPathRecord AttrID = 0x0035
)

var saAttributes = map[AttrID]attrKind{
	AttrClassPortInfo: {name: "ClassPortInfo"},
	AttrNotice:        {name: "Notice"},
	AttrPathRecord:    {name: "PathRecord"},
}
