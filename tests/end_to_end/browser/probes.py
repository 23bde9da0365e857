"""Forty texts that would run a script, ask a stranger or break a page, if a page took them for more than texts."""

from __future__ import annotations

_RAN = "document.documentElement.dataset.pwned=1"
_ASKED = "http://127.0.0.1:9/p"

PROBES = (
    f"<script>{_RAN}</script>",
    f"</script><script>{_RAN}</script>",
    f"<SCRIPT>{_RAN}</SCRIPT >",
    f"<script src={_ASKED}.js></script>",
    f"<scr<script>ipt>{_RAN}</scr</script>ipt>",
    f"<!--<script>{_RAN}</script>-->",
    "<!-- <script>",
    f"]]><script>{_RAN}</script>",
    f"<img src=x onerror={_RAN}>",
    f"<img src={_ASKED}.png>",
    f'"><img src=x onerror={_RAN}>',
    f"'><img src=x onerror={_RAN}>",
    f"<svg onload={_RAN}>",
    f"<svg><script>{_RAN}</script></svg>",
    f"<svg><animate onbegin={_RAN} attributeName=x dur=1s>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={_RAN}>",
    f"<iframe src=javascript:{_RAN}></iframe>",
    f"<iframe srcdoc='<script>parent.{_RAN}</script>'></iframe>",
    f"<object data={_ASKED}.swf></object>",
    f"<embed src={_ASKED}.swf>",
    f'<a href="javascript:{_RAN}">x</a>',
    f"javascript:{_RAN}",
    f"data:text/html,<script>{_RAN}</script>",
    f"<body onload={_RAN}>",
    f"<details open ontoggle={_RAN}>x</details>",
    f"<input autofocus onfocus={_RAN}>",
    f"<video><source onerror={_RAN}></video>",
    f"<form action={_ASKED}><button>x</button></form>",
    f"<base href={_ASKED}>",
    f"<meta http-equiv=refresh content='0;url={_ASKED}'>",
    f"<link rel=stylesheet href={_ASKED}.css>",
    "<style>*{display:none}</style>",
    f"<div style=background:url({_ASKED}.gif)>x</div>",
    f"<template><script>{_RAN}</script></template>",
    "</title></style></textarea></noscript>",
    "{{ 7 * 7 }}${7*7}<%= 7*7 %>{% raw %}",
    f"\\u003cscript\\u003e{_RAN}\\u003c/script\\u003e",
    f"&lt;script&gt;{_RAN}&lt;/script&gt;",
    "\u202egpj.exe\u2028\u2029\x00\x1b[31m\ufeff",
    f"__proto__ constructor '; {_RAN}; //",
)
