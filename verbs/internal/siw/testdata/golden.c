// Prints queue elements as a C compiler lays them out:
//
//	gcc golden.c -o /tmp/golden && /tmp/golden > golden.txt
#include <stdio.h>
#include <string.h>
#include <rdma/siw-abi.h>

static void hex(const char *name, const void *p, size_t n)
{
	printf("%s ", name);
	for (size_t i = 0; i < n; i++)
		printf("%02x", ((const unsigned char *)p)[i]);
	printf("\n");
}

static struct siw_sge sge(unsigned long addr, unsigned length, unsigned key)
{
	return (struct siw_sge){ .laddr = addr, .length = length, .lkey = key };
}

int main(void)
{
	struct siw_sqe s;

	memset(&s, 0, sizeof(s));
	s.id = 0x1122334455667788;
	s.flags = SIW_WQE_VALID | SIW_WQE_SIGNALLED | SIW_WQE_SOLICITED;
	s.num_sge = 2;
	s.opcode = SIW_OP_SEND;
	s.sge[0] = sge(0x7f0000001000, 4096, 0xabcd01);
	s.sge[1] = sge(0x7f0000004000, 7, 0xabcd02);
	hex("send", &s, sizeof(s));

	memset(&s, 0, sizeof(s));
	s.id = 2;
	s.flags = SIW_WQE_VALID | SIW_WQE_INLINE;
	s.num_sge = 1;
	s.opcode = SIW_OP_WRITE;
	s.raddr = 0x7f0000002000;
	s.rkey = 0x1203;
	s.sge[0].length = 5;
	memcpy(&s.sge[1], "hello", 5);
	hex("inline-write", &s, sizeof(s));

	memset(&s, 0, sizeof(s));
	s.id = 3;
	s.flags = SIW_WQE_VALID | SIW_WQE_SIGNALLED;
	s.num_sge = 1;
	s.opcode = SIW_OP_READ;
	s.raddr = 0x7f0000002008;
	s.rkey = 0x1204;
	s.sge[0] = sge(0x7f0000003000, 64, 0xabcd03);
	hex("read", &s, sizeof(s));

	memset(&s, 0, sizeof(s));
	s.id = 4;
	s.flags = SIW_WQE_VALID | SIW_WQE_READ_FENCE;
	s.opcode = SIW_OP_SEND_REMOTE_INV;
	s.rkey = 0x1205;
	hex("send-invalidate", &s, sizeof(s));

	struct siw_rqe r = { .id = 5, .flags = SIW_WQE_VALID, .num_sge = 1, .sge = { sge(0x7f0000005000, 100, 0xabcd04) } };
	hex("receive", &r, sizeof(r));

	struct siw_cqe c = { .id = 6, .flags = SIW_WQE_VALID | SIW_WQE_REM_INVAL, .opcode = SIW_OP_RECEIVE, .bytes = 99, .inval_stag = 0x1206, .qp_id = 0x17 };
	hex("completion", &c, sizeof(c));
	memset(&c, 0, sizeof(c));
	c.id = 7;
	c.flags = SIW_WQE_VALID;
	c.opcode = SIW_OP_WRITE;
	c.status = SIW_WC_REM_ACCESS_ERR;
	c.qp_id = 0x18;
	hex("failed-completion", &c, sizeof(c));
	return 0;
}
