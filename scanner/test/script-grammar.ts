import { Chance } from './chance.ts';
import { type ScriptSample, TABLES } from './script-samples.ts';

// Scripts that hide a text behind constant expressions, by a grammar: a language has ways to write a text, each of which writes a shorter or a changed text in another way, and calls that run the result.

type Write = (text: string, chance: Chance, depth: number) => string;

interface Tongue {
  /** The table of harmful and harmless texts. */
  table: string;
  /** A literal. */
  literal: (text: string, chance: Chance) => string;
  ways: (write: Write) => readonly Write[];
  /** The script around the expression. `set` puts a value into a variable. */
  run: readonly ((expression: string, chance: Chance) => string)[];
}

const DEPTH_MAXIMUM = 2;
const latin = (text: string) => Buffer.from(text, 'latin1');
const turned = (text: string) => [...text].reverse().join('');
const codes = (text: string) => [...text].map((letter) => letter.charCodeAt(0));
const name = (chance: Chance) => `${chance.of(['a', 'buf', 'x', 'value', 'tmp', 'q', 'kk'])}${chance.below(90) + 10}`;
/** Something that the text does not contain. */
const junkFor = (text: string, chance: Chance) => {
  for (;;) {
    const junk = chance.of(['#', '~', '@@', 'zQ', '-_-', '!x', '^^']) + chance.of(['', '7', 'W']);
    if (!text.includes(junk) && !text.includes(junk.slice(0, 1))) return junk;
    const other = `Zq${chance.below(900) + 100}`;
    if (!text.includes(other)) return other;
  }
};
const piecesOf = (text: string, chance: Chance) => {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const width = 1 + chance.below(Math.max(2, Math.ceil(text.length / (2 + chance.below(6)))));
    pieces.push(text.slice(at, at + width));
    at += width;
  }
  return pieces;
};
/** Items as they are written, with one of several texts between them. */
const joined = <Item>(items: readonly Item[], write: (item: Item) => string, chance: Chance, ...by: string[]) => {
  const written = items.map(write);
  return written.join(by.length > 1 ? chance.of(by) : by[0]);
};
const inner =
  (write: Write, literal: Tongue['literal']): Write =>
  (text, chance, depth) =>
    depth >= DEPTH_MAXIMUM ? literal(text, chance) : write(text, chance, depth + 1);
/** A text with junk between its pieces, and the expression that takes the junk out. */
const junked =
  (next: Write, form: (hidden: () => string, junk: string, chance: Chance) => string): Write =>
  (text, chance, depth) => {
    const junk = junkFor(text, chance);
    return form(() => next(piecesOf(text, chance).join(junk), chance, depth), junk, chance);
  };
/** A number as a sum or a difference. */
const number = (value: number, chance: Chance) => {
  const by = 1 + chance.below(40);
  return chance.of([`${value}`, `${value + by}-${by}`, `${Math.max(0, value - by)} + ${value - Math.max(0, value - by)}`]);
};

const backslashed = (text: string, quote: string) =>
  `${quote}${text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`).replaceAll('\n', '\\n').replaceAll('\r', '\\r')}${quote}`;
const escaped = (text: string) => `"${latin(text).toString('hex').replaceAll(/../g, '\\x$&')}"`;

/** Numbers of a text, and the expression that makes one code of an item again. */
function numbersOf(text: string, chance: Chance, xor = (item: string, by: number) => `${item} ^ ${by}`) {
  const by = 1 + chance.below(90);
  const { hide, code } = chance.of([
    { hide: (one: number) => one + by, code: (item: string) => `${item} - ${by}` },
    { hide: (one: number) => one + 300 - by, code: (item: string) => `${item} - ${300 - by}` },
    { hide: (one: number) => one * 3, code: (item: string) => `${item} / 3` },
    { hide: (one: number) => one ^ by, code: (item: string) => xor(item, by) },
  ]);
  return { numbers: codes(text).map((one) => hide(one)), code };
}

const javascriptLiteral = (text: string, chance: Chance) =>
  chance.of([() => backslashed(text, '"'), () => backslashed(text, "'"), () => escaped(text)])();
const JAVASCRIPT: Tongue = {
  table: 'JScript',
  literal: javascriptLiteral,
  ways: (write) => {
    const next = inner(write, javascriptLiteral);
    return [
      (text, chance) =>
        `(${joined(piecesOf(text, chance), (piece) => javascriptLiteral(piece, chance), chance, ' + ', '+', '\n  + ')})`,
      junked(
        next,
        (hidden, junk, chance) => `${hidden()}.split(${javascriptLiteral(junk, chance)}).join(${chance.of(['""', "''"])})`,
      ),
      (text, chance, depth) => `${next(turned(text), chance, depth)}.split("").reverse().join("")`,
      junked(next, (hidden, junk) => `${hidden()}.replace(/${junk.replaceAll(/[\^$.*+?()[\]{}|/\\-]/g, '\\$&')}/g, "")`),
      (text, chance) => `String.fromCharCode(${joined(codes(text), (code) => number(code, chance), chance, ',')})`,
      (text) => `String.fromCharCode.apply(null, [${codes(text).join(', ')}])`,
      (text, chance) => {
        const { numbers, code } = numbersOf(text, chance);
        const item = chance.of(['c', 'n', 'ch']);
        return chance.of([
          `[${numbers.join(',')}].map(${item} => String.fromCharCode(${code(item)})).join("")`,
          `[${numbers.join(',')}].map(function(${item}) { return String.fromCharCode(${code(item)}); }).join('')`,
          `String.fromCharCode(...[${numbers.join(',')}].map((${item}) => ${code(item)}))`,
        ]);
      },
      (text, chance, depth) => `atob(${next(latin(text).toString('base64'), chance, depth)})`,
      (text, chance, depth) => `Buffer.from(${next(latin(text).toString('hex'), chance, depth)}, "hex").toString()`,
      (text, chance) => {
        const pieces = piecesOf(text, chance).map((piece) => javascriptLiteral(piece, chance));
        return `[${pieces.join(', ')}].join('')`;
      },
      (text, chance) => {
        const [first = '', ...rest] = piecesOf(text, chance).map((piece) => javascriptLiteral(piece, chance));
        return `${first}.concat(${rest.join(', ')})`;
      },
    ];
  },
  run: [
    (expression) => `eval(${expression});\n`,
    (expression, chance) => {
      const variable = name(chance);
      return `var ${variable} = ${expression};\neval(${variable});\n`;
    },
    (expression) => `new Function(${expression})();\n`,
    (expression, chance) => {
      const variable = name(chance);
      return `(function () {\n  var ${variable} = ${expression};\n  this["ev" + "al"](${variable});\n})();\n`;
    },
  ],
};
/** A loop that makes letters from numbers is no expression. */
const loopOfJavascript = (text: string, chance: Chance): string => {
  const [list, result] = [`${name(chance)}l`, `${name(chance)}r`];
  const { numbers, code } = numbersOf(text, chance);
  return chance.of([
    `var ${list} = [${numbers.join(',')}], ${result} = "";\nfor (var i = 0; i < ${list}.length; i++) ${result} += String.fromCharCode(${code(`${list}[i]`)});\neval(${result});\n`,
    `var ${list} = "${numbers.join('|')}".split("|");\nvar ${result} = '';\nfor (var i in ${list}) { ${result} = ${result} + String.fromCharCode(${code(`parseInt(${list}[i])`)}); }\neval(${result});\n`,
    `function d(s, k) {\n  var r = "";\n  for (var i = 0; i < s.length; i++) r += String.fromCharCode(s[i] ^ k);\n  return r;\n}\neval(d([${codes(text).map((one) => one ^ 77)}], 77));\n`,
  ]);
};

const basicLiteral = (text: string) =>
  `"${text.replaceAll('"', '""')}"`.replaceAll('\r', '" & vbCr & "').replaceAll('\n', '" & vbLf & "');
const VISUAL_BASIC: Tongue = {
  table: 'VBScript',
  literal: basicLiteral,
  ways: (write) => {
    const next = inner(write, basicLiteral);
    return [
      (text, chance) => joined(piecesOf(text, chance), basicLiteral, chance, ' & ', '&', ' & _\n    ', ' + '),
      (text, chance) =>
        joined(
          codes(text),
          (code) => `${chance.of(['Chr', 'ChrW', 'chr'])}(${chance.of([number(code, chance), `&H${code.toString(16)}`])})`,
          chance,
          ' & ',
          '&',
          ' & _\n  ',
        ),
      (text, chance, depth) => `StrReverse(${next(turned(text), chance, depth)})`,
      junked(next, (hidden, junk) => `Replace(${hidden()}, ${basicLiteral(junk)}, "")`),
      junked(next, (hidden, junk) => `Join(Split(${hidden()}, ${basicLiteral(junk)}), "")`),
      (text, chance) => `Join(Array(${joined(piecesOf(text, chance), basicLiteral, chance, ', ')}), "")`,
    ];
  },
  run: [
    (expression) => `Execute ${expression}\n`,
    (expression) => `ExecuteGlobal(${expression})\n`,
    (expression, chance) => {
      const variable = name(chance);
      return `Dim ${variable}\n${variable} = ${expression}\nExecute ${variable}\n`;
    },
  ],
};
const loopOfBasic = (text: string, chance: Chance): string => {
  const [list, result] = [`${name(chance)}l`, `${name(chance)}r`];
  const { numbers, code } = numbersOf(text, chance, (item, by) => `${item} Xor ${by}`);
  return chance.of([
    `Dim ${list}, ${result}, c\n${list} = Array(${numbers.join(', ')})\nFor Each c In ${list}\n  ${result} = ${result} & Chr(${code('c')})\nNext\nExecute ${result}\n`,
    `Dim ${list}, ${result}, i\n${list} = Split("${numbers.join(',')}", ",")\nFor i = 0 To UBound(${list})\n  ${result} = ${result} & Chr(${code(`CInt(${list}(i))`)})\nNext\nExecuteGlobal ${result}\n`,
    `Function D(s, k)\n  Dim i\n  For i = 1 To Len(s)\n    D = D & Chr(Asc(Mid(s, i, 1)) - k)\n  Next\nEnd Function\nExecute D(${basicLiteral(
      String.fromCharCode(...codes(text).map((one) => one + 2)),
    )}, 2)\n`,
  ]);
};

const shellLiteral = (text: string) => `'${text.replaceAll("'", "''")}'`;
const POWERSHELL: Tongue = {
  table: 'PowerShell',
  literal: shellLiteral,
  ways: (write) => {
    const next = inner(write, shellLiteral);
    return [
      (text, chance) => `(${joined(piecesOf(text, chance), shellLiteral, chance, ' + ', '+', ' +\n  ')})`,
      (text, chance) =>
        `(-join (${joined(codes(text), (code) => `[char]${chance.of([`${code}`, `(${number(code, chance)})`, `0x${code.toString(16)}`])}`, chance, ',')}))`,
      junked(
        next,
        (hidden, junk, chance) =>
          `(${hidden()} ${chance.of(['-replace', '-creplace'])} ${shellLiteral(junk.replaceAll(/[\^$.*+?()[\]{}|/\\]/g, '\\$&'))}, '')`,
      ),
      junked(next, (hidden, junk) => `(${hidden()}).Replace(${shellLiteral(junk)}, '')`),
      junked(next, (hidden, junk) => `((${hidden()}).Split(${shellLiteral(junk)}) -join '')`),
      (text, chance) => {
        const pieces = piecesOf(text, chance);
        const order = pieces.map((_, index) => index).sort(() => chance.below(3) - 1);
        const format = pieces.map((_, index) => `{${order.indexOf(index)}}`).join('');
        return `("${format}" -f ${order.map((index) => shellLiteral(pieces[index] ?? '')).join(',')})`;
      },
      (text, chance, depth) => `((${next(turned(text), chance, depth)})[-1..-${text.length}] -join '')`,
      (text, chance) => {
        const { numbers, code } = numbersOf(
          text,
          chance,
          (item, by) => `${item} -bxor ${chance.of([`${by}`, `0x${by.toString(16)}`])}`,
        );
        return `(-join (${numbers.join(',')} | ${chance.of(['%', 'ForEach-Object', 'foreach'])} { [char](${code('$_')}) }))`;
      },
      (text, chance, depth) =>
        `([Text.Encoding]::${chance.of(['UTF8', 'ASCII'])}.GetString([Convert]::FromBase64String(${next(latin(text).toString('base64'), chance, depth)})))`,
    ];
  },
  run: [
    (expression) => `iex ${expression}\n`,
    (expression) => `${expression} | Invoke-Expression\n`,
    (expression, chance) => {
      const variable = name(chance);
      return `$${variable} = ${expression}\nInvoke-Expression $${variable}\n`;
    },
    (expression) => `& ('I'+'EX') ${expression}\n`,
  ],
};
const loopOfPowershell = (text: string, chance: Chance): string => {
  const [list, result] = [`${name(chance)}l`, `${name(chance)}r`];
  const { numbers, code } = numbersOf(text, chance, (item, by) => `${item} -bxor ${by}`);
  return chance.of([
    `$${list} = @(${numbers.join(',')})\n$${result} = ''\nforeach ($c in $${list}) { $${result} += [char](${code('$c')}) }\niex $${result}\n`,
    `$${list} = '${numbers.join(' ')}'.Split(' ')\n$${result} = ''\nfor ($i = 0; $i -lt $${list}.Count; $i++) { $${result} += [char](${code(`[int]$${list}[$i]`)}) }\nInvoke-Expression $${result}\n`,
    `$${list} = [Convert]::FromBase64String('${Buffer.from(codes(text).map((one) => one ^ 0x2f)).toString('base64')}')\n$${result} = -join ($${list} | % { [char]($_ -bxor 0x2f) })\niex $${result}\n`,
  ]);
};

const phpLiteral = (text: string, chance: Chance) =>
  chance.of([() => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`, () => escaped(text)])();
const PHP: Tongue = {
  table: 'PHP',
  literal: phpLiteral,
  ways: (write) => {
    const next = inner(write, phpLiteral);
    return [
      (text, chance) => joined(piecesOf(text, chance), (piece) => phpLiteral(piece, chance), chance, ' . ', '.', '\n  . '),
      (text, chance) => joined(codes(text), (code) => `chr(${number(code, chance)})`, chance, ' . ', '.'),
      (text, chance, depth) => `strrev(${next(turned(text), chance, depth)})`,
      junked(next, (hidden, junk, chance) => `str_replace(${phpLiteral(junk, chance)}, '', ${hidden()})`),
      junked(next, (hidden, junk, chance) => `implode('', explode(${phpLiteral(junk, chance)}, ${hidden()}))`),
      (text, chance, depth) => `base64_decode(${next(latin(text).toString('base64'), chance, depth)})`,
      (text, chance, depth) => `hex2bin(${next(latin(text).toString('hex'), chance, depth)})`,
      (text, chance, depth) => `pack('H*', ${next(latin(text).toString('hex'), chance, depth)})`,
      (text, chance) =>
        `implode(${chance.of(["''", '""'])}, array(${joined(piecesOf(text, chance), (piece) => phpLiteral(piece, chance), chance, ', ')}))`,
      (text, chance) => {
        const { numbers, code } = numbersOf(text, chance);
        return chance.of([
          `implode('', array_map(function ($c) { return chr(${code('$c')}); }, [${numbers.join(',')}]))`,
          `join('', array_map(fn($c) => chr(${code('$c')}), array(${numbers.join(',')})))`,
        ]);
      },
    ];
  },
  run: [
    (expression) => `<?php eval(${expression});\n`,
    (expression, chance) => {
      const variable = name(chance);
      return `<?php\n$${variable} = ${expression};\n@eval($${variable});\n?>\n`;
    },
    (expression) => `<?php $f = create_function('', ${expression}); $f();\n`,
  ],
};
const loopOfPhp = (text: string, chance: Chance): string => {
  const [list, result] = [`${name(chance)}l`, `${name(chance)}r`];
  const { numbers, code } = numbersOf(text, chance);
  return chance.of([
    `<?php\n$${list} = array(${numbers.join(',')});\n$${result} = '';\nforeach ($${list} as $c) { $${result} .= chr(${code('$c')}); }\neval($${result});\n`,
    `<?php\n$${list} = explode(',', '${numbers.join(',')}');\n$${result} = '';\nfor ($i = 0; $i < count($${list}); $i++) $${result} .= chr(${code(`intval($${list}[$i])`)});\neval($${result});\n`,
    `<?php\nfunction d($s, $k) { $r = ''; for ($i = 0; $i < strlen($s); $i++) $r .= chr(ord($s[$i]) ^ ord($k[$i % strlen($k)])); return $r; }\neval(d(base64_decode('${Buffer.from(codes(text).map((one, at) => one ^ 'key'.charCodeAt(at % 3))).toString('base64')}'), 'key'));\n`,
  ]);
};

const pythonLiteral = (text: string, chance: Chance) =>
  chance.of([() => backslashed(text, "'"), () => backslashed(text, '"'), () => escaped(text)])();
const PYTHON: Tongue = {
  table: 'Python',
  literal: pythonLiteral,
  ways: (write) => {
    const next = inner(write, pythonLiteral);
    return [
      (text, chance) =>
        `(${joined(piecesOf(text, chance), (piece) => pythonLiteral(piece, chance), chance, ' + ', '+', '\n  ', ' +\n  ')})`,
      (text, chance) => `(${joined(codes(text), (code) => `chr(${number(code, chance)})`, chance, '+')})`,
      (text, chance, depth) => `${next(turned(text), chance, depth)}[::-1]`,
      junked(next, (hidden, junk, chance) => `(${hidden()}).replace(${pythonLiteral(junk, chance)}, '')`),
      junked(next, (hidden, junk, chance) => `''.join((${hidden()}).split(${pythonLiteral(junk, chance)}))`),
      (text, chance, depth) => `bytes.fromhex(${next(latin(text).toString('hex'), chance, depth)}).decode()`,
      (text, chance) => `''.join([${joined(piecesOf(text, chance), (piece) => pythonLiteral(piece, chance), chance, ', ')}])`,
      (text, chance) => {
        const { numbers, code } = numbersOf(text, chance);
        const whole = (item: string) => (code(item).includes('/') ? `int(${code(item)})` : code(item));
        return chance.of([
          `''.join(chr(${whole('c')}) for c in [${numbers.join(', ')}])`,
          `''.join([chr(${whole('n')}) for n in (${numbers.join(', ')})])`,
          `''.join(map(lambda v: chr(${whole('v')}), [${numbers.join(',')}]))`,
        ]);
      },
      (text, chance) => `''.join(map(chr, [${joined(codes(text), (code) => number(code, chance), chance, ',')}]))`,
    ];
  },
  run: [
    (expression) => `exec(${expression})\n`,
    (expression, chance) => {
      const variable = name(chance);
      return `#!/usr/bin/env python3\n${variable} = ${expression}\nexec(${variable})\n`;
    },
    (expression) => `import sys\neval(compile(${expression}, '<string>', 'exec'))\n`,
  ],
};
const loopOfPython = (text: string, chance: Chance): string => {
  const [list, result] = [`${name(chance)}l`, `${name(chance)}r`];
  const { numbers, code } = numbersOf(text, chance);
  const whole = (item: string) => (code(item).includes('/') ? `int(${code(item)})` : code(item));
  return chance.of([
    `${list} = [${numbers.join(', ')}]\n${result} = ''\nfor c in ${list}:\n    ${result} += chr(${whole('c')})\nexec(${result})\n`,
    `import base64\n${list} = base64.b64decode('${Buffer.from(codes(text).map((one) => one ^ 0x5a)).toString('base64')}')\nexec(''.join(chr(b ^ 0x5a) for b in ${list}))\n`,
  ]);
};

interface Language extends Tongue {
  loop: (text: string, chance: Chance) => string;
}

const html = (script: string, language: string, chance: Chance) =>
  `<html>\n<head>\n<title>Setup</title>\n${chance.of(['<HTA:APPLICATION ID="app" SHOWINTASKBAR="no"/>\n', '<hta:application windowstate="minimize">\n'])}<script language="${language}">\n${script}</script>\n</head>\n<body></body>\n</html>\n`;
const wsf = (script: string, language: string, chance: Chance) =>
  `<?xml version="1.0"?>\n<${chance.of(['job id="main"', 'package><job'])}>\n<script language="${language}">\n<![CDATA[\n${script}]]>\n</script>\n</job>\n`;

/** A language whose scripts stand in a document. */
const within = (of: Language, wrap: (script: string, language: string, chance: Chance) => string, label: string): Language => ({
  ...of,
  run: of.run.map((run) => (expression, chance) => wrap(run(expression, chance), label, chance)),
  loop: (text, chance) => wrap(of.loop(text, chance), label, chance),
});

const javascript: Language = { ...JAVASCRIPT, loop: loopOfJavascript };
const basic: Language = { ...VISUAL_BASIC, loop: loopOfBasic };

export const LANGUAGES: Readonly<Record<string, Language>> = {
  JavaScript: javascript,
  VBScript: basic,
  PowerShell: { ...POWERSHELL, loop: loopOfPowershell },
  PHP: { ...PHP, loop: loopOfPhp },
  Python: { ...PYTHON, loop: loopOfPython },
  'HTA, VBScript': within(basic, html, 'VBScript'),
  'HTA, JScript': within(javascript, html, 'JScript'),
  'Windows script, VBScript': within(basic, wsf, 'VBScript'),
  'Windows script, JScript': within(javascript, wsf, 'JScript'),
};

/** One of so many scripts has a loop. */
const LOOP_ONE_OF = 4;

/** So many scripts of either kind by a seed: harmful ones, which are to be found, and their harmless neighbours. */
export function* grammarSamples(language: string, seed: number, count: number): Generator<ScriptSample & { text: string }> {
  const tongue = LANGUAGES[language];
  const table = tongue === undefined ? undefined : TABLES[tongue.table];
  if (tongue === undefined || table === undefined) return;
  const chance = new Chance(seed);
  const write: Write = (text, by, depth) => by.of(tongue.ways(write))(text, by, depth);
  for (let number = 0; number < 2 * count; number += 1) {
    const harmful = number % 2 === 0;
    const text = chance.of(harmful ? table.harmful : table.harmless).replaceAll('¦', '');
    const script =
      number % LOOP_ONE_OF < 2 && chance.below(2) === 0
        ? tongue.loop(text, chance)
        : chance.of(tongue.run)(write(text, chance, 0), chance);
    yield { note: `${harmful ? 'harmful' : 'harmless'} ${number}`, harmful, bytes: latin(script), text };
  }
}
