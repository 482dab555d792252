#!/bin/sh
# The states of optimizers after steps of LeNet on the CPU have the bytes that forerun says: of
# PyTorch's SGD with momentum and Adam, of its Adafactor where it has one (2.5 and later); of Lion,
# Muon and SOAP of the package pytorch_optimizer where that is there.
# Ends with 77 where no Python has PyTorch.
set -u
. "${srcdir:-.}/tests/support/direct.sh"
python=
for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
    if "$candidate" -c 'import torch' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || { echo "SKIP no Python here has PyTorch"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

"$python" - >"$work/states" <<'PYTHON' || exit 1
import torch
from torch import nn, optim
if not hasattr(optim.lr_scheduler, "LRScheduler"):  # before 2.0; pytorch_optimizer asks for it
    optim.lr_scheduler.LRScheduler = optim.lr_scheduler._LRScheduler
try:
    import pytorch_optimizer as more
except ImportError:
    more = None


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def sizes(value, seen):
    """Bytes of tensors, each storage once; counters of steps are numbers."""
    if torch.is_tensor(value):
        if value.dim() == 0 or value.numel() == 0 or value.data_ptr() in seen:
            return 0
        seen.add(value.data_ptr())
        return value.numel() * value.element_size()
    if isinstance(value, dict):
        value = list(value.values())
    return sum(sizes(v, seen) for v in value) if isinstance(value, (list, tuple)) else 0


def measure(name, *makes):
    """makes: optimizers, each of the tensors that a function of (parameter, is last) chooses."""
    torch.manual_seed(0)
    model = lenet()
    last = list(model[-1].parameters())
    optimizers = [make([p for p in model.parameters() if takes(p, any(p is q for q in last))])
                  for make, takes in makes]
    for _ in range(3):
        model.zero_grad()
        nn.functional.cross_entropy(model(torch.randn(4, 1, 28, 28)),
                                    torch.randint(10, (4,))).backward()
        for o in optimizers:
            o.step()
    print(name, sum(sizes(list(o.state.values()), set()) for o in optimizers))


def all_of(p, is_last):
    return True


def hidden(p, is_last):
    return p.dim() > 1 and not is_last


def others(p, is_last):
    return not hidden(p, is_last)


measure("momentum", (lambda p: optim.SGD(p, 1e-4, momentum=0.9), all_of))
measure("adam", (lambda p: optim.Adam(p), all_of))
if hasattr(optim, "Adafactor"):
    measure("adafactor", (lambda p: optim.Adafactor(p), all_of))
if more and hasattr(more, "Lion"):
    measure("lion", (lambda p: more.Lion(p), all_of))
if more and hasattr(more, "SOAP"):
    measure("soap", (lambda p: more.SOAP(p), all_of))
muon = getattr(more, "Muon", None)  # its matrices may be of convolutions, PyTorch's may not
if muon:
    measure("muon", (lambda p: muon(p), hidden), (lambda p: optim.Adam(p), others))
PYTHON

n=0 n_failed=0
while read -r name bytes; do
    n=$((n + 1))
    "$forerun" simulate -w lenet -t dgx1-v100 -g 1 -b 4 -s single -O "$name" --json -q >"$work/json"
    said=$(sed -n 's/.*"optimizer": \([0-9][0-9]*\),.*/\1/p' "$work/json" | head -n 1)
    [ "$said" = "$bytes" ] || {
        echo "FAIL $name: PyTorch keeps $bytes bytes, forerun says $said"
        n_failed=$((n_failed + 1))
    }
done <"$work/states"
echo "$n optimizers, $n_failed differ"
[ "$n" -ge 2 ] && [ "$n_failed" -eq 0 ]
