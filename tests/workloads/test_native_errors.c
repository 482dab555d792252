/* tests/workloads/test_native_errors.c - malformed native folders are refused, with the place. */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/native_case.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static const char yaml[] = "name: n\nbatch: 4\n";
static const char good_ops[] = "id,kind,phase,dims\na,matmul,forward,4x8\nb,relu,forward,4x8\n"
                               "u,update,update,\n";
static const char good_edges[] = "src,dst\na,b\n";

static const struct {
    const char *file, *text, *error; /* %s: the folder */
} wrong[] = {
    {"workload.yaml", "name: n\n", "%s/workload.yaml"},
    {"workload.yaml", "name: n\nbatch: 0\n", "%s/workload.yaml:2:8: "},
    {"workload.yaml", "name: n\nbatch: 1\nprecision: fp31\n",
     "%s/workload.yaml:3:12: 'precision' is \"fp31\", no known precision, did you mean 'fp32'?"},
    {"workload.yaml", "name: n\nbatch: 1\nbathc: 1\n", "%s/workload.yaml:3:1: "},
    {"ops.csv", "id,kind,flops\na,relu,12x\n", "%s/ops.csv:2:8: 'flops' is \"12x\", not a number"},
    {"ops.csv", "id,kind,flops\na,relu,nan\n", "%s/ops.csv:2:8: "},
    {"ops.csv", "id,kind,flops\na,relu,1e22\n", "%s/ops.csv:2:8: "},
    {"ops.csv", "id,kind\na,rely\n",
     "%s/ops.csv:2:3: 'kind' is \"rely\", no known kind of op, did you mean 'relu'?"},
    {"ops.csv", "id,kind,phase\na,relu,forwards\n",
     "%s/ops.csv:2:8: 'phase' is \"forwards\", no known phase, did you mean 'forward'?"},
    {"ops.csv", "id,kind\na,relu\nb,relu\na,relu\n",
     "%s/ops.csv:4:1: id 'a' is given twice, first on line 2"},
    {"ops.csv", "id,kind,name\na,relu,x\nb,relu,x\n",
     "%s/ops.csv:3:1: op 'x' is named twice, first at %s/ops.csv:2:1"},
    {"ops.csv", "id,kind\n", "%s/edges.csv:2:1: no op has the id 'a'"},
    {"ops.csv", "id,kind,dims\na,relu,4x8x\n", "%s/ops.csv:2:12: "},
    {"ops.csv", "id,kind,dims\na,relu,1x1x1x1x1x1x1\n",
     "%s/ops.csv:2:20: 'dims' has over 6 dimensions"},
    {"ops.csv", "id,kind,dims\na,relu,4294967295x4294967295\n",
     "%s/ops.csv:2:8: 'dims' make an output of over 2^53 bytes"},
    {"ops.csv", "id,kind,out_bytes\na,relu,9007199254740993\n", "%s/ops.csv:2:8: "},
    {"ops.csv", "id,kind,dims,out_bytes\na,relu,4x8,1;2\n",
     "%s/ops.csv:2:8: 'dims' has 1 items, but 'out_bytes' has 2"},
    {"ops.csv", "id,kind,out_bytes,split\na,relu,8;8,0;07\n",
     "%s/ops.csv:2:14: 'split' is \"07\", not digits of dimensions from 0 to 5, or '-'"},
    {"ops.csv", "id,kind,out_bytes,alias\na,relu,8,b:0\n", "%s/ops.csv:2:10: no op has the id 'b'"},
    {"ops.csv", "id,kind,out_bytes,alias\na,relu,8,a:1\n",
     "%s/ops.csv:2:10: 'alias' is \"a:1\", but that op has 1 outputs"},
    {"ops.csv", "id,kind,out_bytes,alias\na,relu,8,a:0\nb,relu,8,-\nu,update,,\n",
     "%s/ops.csv:2:1: an output of op 'a' shares storage with itself in a ring"},
    {"ops.csv",
     "id,kind,phase,forward\na,relu,forward,\nb,relu,backward-data,u\n"
     "u,update,update,c\n",
     "%s/ops.csv:4:17: no op has the id 'c'"},
    {"ops.csv",
     "id,kind,phase,forward\na,relu,forward,\nb,relu,backward-data,u\nu,update,update,\n",
     "%s/ops.csv:3:1: op 'b' derives from 'u', which is no forward op but update"},
    {"edges.csv", "src,dst\na,c\n", "%s/edges.csv:2:3: no op has the id 'c'"},
    {"edges.csv", "src,dst\na,b\nb,u\na,b\n",
     "%s/edges.csv:4:1: the edge from 'a' to 'b' is given twice, first on line 2"},
    {"edges.csv", "src,dst\na,b\nb,a\n", "%s/ops.csv:2:1: the ops form a cycle: a -> b -> a"},
    {"edges.csv", "src,dst,tensor\na,b,1\n",
     "%s/edges.csv:2:5: 'tensor' is 1, but op 'a' has 1 outputs"},
    {"edges.csv", "src,dst,bytes\na,b,-3\n", "%s/edges.csv:2:5: "},
    {"edges.csv", "src,dst,bytes,tensor\na,b,30,-\n",
     "%s/edges.csv:2:5: 'bytes' is 30, but a 'tensor' of '-' carries no data (an op that uses "
     "another's parameters says so in 'tied_to' of ops.csv)"},
    {"ops.csv", "id,kind,tied_to\na,relu,\nb,relu,a\n",
     "%s/ops.csv:3:8: 'tied_to' names op 'a', which owns no parameters"},
    {"ops.csv", "id,kind,param_bytes,tied_to\na,bias,4,\nb,relu,,a;c\n",
     "%s/ops.csv:3:11: no op has the id 'c'"},
    {"ops.csv", "id,kind,phase,param_bytes,tied_to\na,bias,,4,\nb,relu,update,,a\n",
     "%s/ops.csv:3:16: 'tied_to' ties 'b' to 'a', but only a forward op can use the parameters of "
     "another forward op"},
    {"ops.csv", "id,kind,shape\na,matmul,rows=4;columns=5\n",
     "%s/ops.csv:2:10: 'shape' of a matmul lacks 'depth'"},
    {"ops.csv", "id,kind,shape\na,matmul,rows=4;colums=5;depth=1\n",
     "%s/ops.csv:2:17: 'shape' has no size 'colums' for this kind, did you mean 'columns'?"},
    {"ops.csv", "id,kind,shape\na,matmul,rows=4;columns=5;rows=1\n",
     "%s/ops.csv:2:27: 'shape' has 'rows' twice"},
    {"ops.csv", "id,kind,shape\na,matmul,rows=4;columns=0;depth=1\n", "%s/ops.csv:2:25: "},
    {"ops.csv", "id,kind,shape\na,matmul,rows=4;columns;depth=1\n",
     "%s/ops.csv:2:17: 'shape' has \"columns\", not the name of a size, '=' and its value"},
    {"ops.csv",
     "id,kind,shape\na,matmul,rows=4;columns=99999999999999999999999999999999999999;"
     "depth=1\n",
     "%s/ops.csv:2:25: "},
    {"ops.csv", "id,kind,phase,shape\na,matmul,update,rows=4;columns=5;depth=1;gradient_of=top\n",
     "%s/ops.csv:2:54: 'gradient_of' of 'shape' is \"top\", expected none, left or right"},
    {"ops.csv", "id,kind,shape\na,concat,rows=4\n",
     "%s/ops.csv:2:10: 'shape' is given, but ops of kind 'concat' have none"},
    {"ops.csv", "id,kind,shape\na,attention,batch=1;heads=8;kv_heads=3;head_width=64;query_len=8\n",
     "%s/ops.csv:2:13: 'shape': 3 kv_heads do not divide 8 heads"},
    {"ops.csv", "id,kind,flops,shape\na,matmul,100,rows=4;columns=5;depth=6\n",
     "%s/ops.csv:2:14: 'shape' makes 240 flops, but 'flops' is 100"},
    {"ops.csv", "id,kind,shape\na,matmul,rows=9007199254740992;columns=9007199254740992;depth=1\n",
     "%s/ops.csv:2:10: 'shape': the sizes make over 1e+21 flops or elements"},
    {"times.csv", "op,device,batch,time_s\na,v100,8,-1\n", "%s/times.csv:2:10: "},
    {"times.csv", "op,device,batch,time_s\na,,8,1\n",
     "%s/times.csv:2:3: 'device' is empty, not a device type or '*'"},
    {"times.csv", "op,device,batch,time_s\na,v100,0,1\n", "%s/times.csv:2:8: "},
};

/* An expectation that ends in ": " is the beginning of the message: base owns the rest. */
LOOP_TEST(what_is_malformed_is_refused_with_its_place, 0, sizeof(wrong) / sizeof(wrong[0]))
{
    struct native_case c;
    const char *want = wrong[_i].error;
    struct fr_graph *g = NULL;
    struct fr_error err = {0};
    char expected[800], line[800];
    size_t len;

    native_case_make(&c);
    native_case_write(&c, "workload.yaml", yaml);
    native_case_write(&c, "ops.csv", good_ops);
    native_case_write(&c, "edges.csv", good_edges);
    native_case_write(&c, wrong[_i].file, wrong[_i].text);
    ck_assert_int_ne(fr_workload_load(&g, c.folder, NULL, &err), FR_OK);
    ck_assert_ptr_null(g);
    for (len = 0; *want && len + 1 < sizeof(expected); want++) {
        if (want[0] == '%')
            len += (size_t)snprintf(expected + len, sizeof(expected) - len, "%s", c.folder);
        else
            expected[len++] = *want;
        want += want[0] == '%';
    }
    expected[len] = '\0';
    fr_error_string(&err, line, sizeof(line));
    if (len > 1 && (expected[len - 1] == ' ' || strstr(expected, ".yaml") == expected + len - 5))
        line[len] = '\0';
    ck_assert_str_eq(line, expected);
    native_case_remove(&c);
}

TEST(a_folder_without_its_files_is_no_workload)
{
    struct native_case c;
    struct fr_graph *g = NULL;
    struct fr_error err;

    native_case_make(&c);
    ck_assert_int_eq(fr_workload_load(&g, c.folder, NULL, &err), FR_ENOENT);
    ck_assert_str_eq(err.text, "no 'workload.yaml' in the folder, so it is no workload");
    native_case_remove(&c);
}

int main(void)
{
    TCase *tc = tcase_create("native_errors");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "workloads/native_errors");
}
