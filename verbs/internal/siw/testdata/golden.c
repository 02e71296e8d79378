// Prints queue elements, and the sizes and offsets of structures, as a C compiler lays
// them out:
//
//	gcc golden.c -o /tmp/golden && /tmp/golden > golden.txt
#include <stddef.h>
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

#define S(type) printf("sizeof.%s %zu\n", #type, sizeof(struct type))
#define O(type, field) printf("%s.%s %zu\n", #type, #field, offsetof(struct type, field))

int main(void)
{
	struct siw_sqe s;

	S(siw_uresp_create_cq); O(siw_uresp_create_cq, num_cqe); O(siw_uresp_create_cq, cq_key);
	S(siw_uresp_create_qp); O(siw_uresp_create_qp, num_sqe); O(siw_uresp_create_qp, num_rqe);
	O(siw_uresp_create_qp, sq_key); O(siw_uresp_create_qp, rq_key);
	S(siw_uresp_create_srq); O(siw_uresp_create_srq, srq_key);
	S(siw_ureq_reg_mr); S(siw_uresp_reg_mr);
	S(siw_sqe); O(siw_sqe, flags); O(siw_sqe, num_sge); O(siw_sqe, opcode); O(siw_sqe, rkey); O(siw_sqe, raddr); O(siw_sqe, sge);
	S(siw_rqe); O(siw_rqe, flags); O(siw_rqe, num_sge); O(siw_rqe, sge);
	S(siw_cqe); O(siw_cqe, flags); O(siw_cqe, opcode); O(siw_cqe, status); O(siw_cqe, bytes); O(siw_cqe, inval_stag); O(siw_cqe, qp_id);
	S(siw_cq_ctrl);
	printf("SIW_MAX_INLINE %zu\n", SIW_MAX_INLINE);
	printf("SIW_INVAL_UOBJ_KEY %d\n", SIW_INVAL_UOBJ_KEY);

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
