import { describe, expect, test } from 'vitest';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { examined } from '#test/examined.ts';
import { noise } from '#test/files.ts';
import { grammarSamples, LANGUAGES } from '#test/script-grammar.ts';
import { scriptSamples, TABLES } from '#test/script-samples.ts';
import { scriptPieces } from './script-pieces.ts';

/** Of a language's samples every fifth is tried here, and all of them in script-pieces.deep.test.ts. */
const STEP = 5;
const SEED = 269;
const GRAMMAR_SAMPLES = 10;

const threatOf = async (bytes: Buffer) => (await examined(bytes)).threat;

describe.each(Object.keys(TABLES))('%s with hidden commands', (language) => {
  test('is found, and its harmless neighbours are not', async () => {
    const wrong: string[] = [];
    for (const [index, { note, harmful, bytes }] of scriptSamples(language, SEED).entries())
      if (index % STEP === 0 && ((await threatOf(bytes)) !== null) !== harmful) wrong.push(note);
    expect(wrong).toEqual([]);
  });
});

test.each(Object.keys(LANGUAGES))(
  '%s that hides its commands behind constant expressions is found, and no harmless one',
  async (language) => {
    const wrong: string[] = [];
    for (const { note, harmful, bytes } of grammarSamples(language, SEED, GRAMMAR_SAMPLES)) {
      const { threat, unread } = await examined(bytes);
      if ((threat !== null) !== harmful || unread.length > 0) wrong.push(`${note}: ${bytes.toString('latin1')}`);
    }
    expect(wrong).toEqual([]);
  },
);

describe('a piece of a script', () => {
  const piecesOf = (text: string) =>
    [...scriptPieces(Buffer.from(text, 'latin1'), new Budget(SCAN_LIMITS, 1024 ** 2))].map(String);
  const coded = (text: string) => Buffer.from(text, 'latin1').toString('base64');

  test('of PHP is a page of PHP', () => {
    expect(piecesOf(`<?php eval(base64_decode('${coded('echo 1 + 1; // two')}'));`)).toContain('<?php echo 1 + 1; // two');
  });

  test('that has its own mark keeps it', () => {
    expect(piecesOf(`<?php eval('?>' . base64_decode('${coded('<?php echo 1 + 1;')}'));`)).toContain('<?php echo 1 + 1;');
  });

  test('stands in its script in place of the calls that decode it', () => {
    expect(piecesOf(`Shell Decode(StrReverse("${[...coded('notepad.exe a b c')].reverse().join('')}")), 0`)).toContain(
      'Shell "notepad.exe a b c", 0',
    );
  });

  test.each([
    [`var a=['var x = new Act','iveXObject(1)'];eval(a[0]+a[1]);`, `eval("var x = new ActiveXObject(1)");`],
    [`$a = @('Get-Pro', "cess -All"); iex ($a[0] + $a[1])`, `iex "Get-Process -All"`],
    [`<?php $p = array('system("id")', ';'); eval($p[0].$p[1]);`, `eval("system(""id"");");`],
  ])('stands in its script in place of the entries of a list: %s', (script, expected) => {
    expect(piecesOf(script).some((piece) => piece.includes(expected))).toBe(true);
  });

  test('is not looked for in a text that neither decodes nor runs anything', () => {
    expect(piecesOf(`The picture: ${coded('these are only some words')}`)).toEqual([]);
  });

  test.each([
    ['one literal', (size: number) => `'${'QUJD'.repeat(size / 4)}'`],
    ['literals that are put together', (size: number) => `'${'b'.repeat(90)}'.`.repeat(size / 93)],
    ['lists that are used', (size: number) => `a=['${'x'.repeat(900)}','y'];${'a[0]+'.repeat(size / 5)}`],
    ['lists without an end', (size: number) => `a[0];${"a=['x','y',".repeat(size / 11)}`],
    ['names of lists', (size: number) => `a[0];${'a=["'.repeat(size / 4)}`],
    ['literals in a list', (size: number) => `'${'4142'.repeat(10)}',`.repeat(size / 43)],
    ['short literals', (size: number) => `"${'a'.repeat(17)}";`.repeat(size / 20)],
    ['quotation marks', (size: number) => `'"`.repeat(size / 2)],
    ['letters without any', (size: number) => `${'QUJDRA'.repeat(10)} `.repeat(size / 61)],
    ['calls', (size: number) => 'a('.repeat(size / 2)],
    ['percent signs', (size: number) => `"${'%41%2541'.repeat(size / 8)}"`],
  ])('is looked for in so many steps for each byte of %s', (_, make) => {
    for (const size of [32 * 1024, 256 * 1024 - 200]) {
      const text = Buffer.from(`<?php eval(strrev(str_rot13(base64_decode('a')))); ${make(size)}`.slice(0, 256 * 1024));
      const budget = new Budget({ ...SCAN_LIMITS, time_ms: Number.POSITIVE_INFINITY }, 64 * 1024 ** 2);
      for (const _ of scriptPieces(text, budget));
      expect(budget.work).toBeLessThan(150 * text.length + 16 * 1024 ** 2);
    }
  });
});

describe('a script that runs a text which could not be evaluated', () => {
  const packed = noise(300).toString('base64');
  const note = { member: null, phrase: { code: 'script.unevaluated', params: {} } };
  const basic = `Function D(s)\n  Dim o\n  Set o = CreateObject("Own.Decoder")\n  D = o.Decode(s)\nEnd Function\nExecute D("${packed}")\n`;
  const shell = `$data = '${packed}'\n$text = Unprotect-Text $data\nInvoke-Expression $text\n`;
  const page = `<html><hta:application id="a"/><script language="JScript">\nvar d = own("${packed}");\neval(d);\n</script></html>`;
  const job = `<job id="a"><script language="VBScript"><![CDATA[\n${basic}]]></script></job>`;

  test.each([
    ['VBScript', basic],
    ['PowerShell', shell],
    ['HTA', page],
    ['Windows script', job],
  ])('is pending with a note in %s', async (_, script) => {
    expect(await examined(Buffer.from(script))).toMatchObject({ threat: null, unread: ['unexplained'], notes: [note] });
  });

  test.each([
    ['JavaScript', `var d = own("${packed}");\neval(d);\n`],
    ['PHP', `<?php eval(own("${packed}"));`],
    ['Python', `import own\nexec(own.decode("${packed}"))\n`],
  ])('has a note in %s', async (_, script) => {
    expect(await examined(Buffer.from(script))).toMatchObject({ threat: null, unread: [], notes: [note] });
  });

  test.each([
    '$command = "Get-Process " + $args[0]\nInvoke-Expression $command\n',
    'iex ((New-Object System.Net.WebClient).DownloadString("https://example.com/install.ps1"))\n',
    `$icon = '${packed}'\n[IO.File]::WriteAllBytes("a.ico", [Convert]::FromBase64String($icon))\nInvoke-Expression "& $path"\n`,
    'Set file = fso.OpenTextFile("library.vbs")\nExecuteGlobal file.ReadAll\n',
    `Dim sql\nsql = "SELECT name, price FROM orders WHERE customer = 5 AND day > 20260101 ORDER BY name, price"\nconnection.Execute sql & id\n`,
    `<script>\nvar picture = "${packed}";\nshow(picture);\neval(code);\n</script>\n`,
  ])('is none where it is made from no long value: %s', async (script) => {
    expect(await examined(Buffer.from(script))).toMatchObject({ threat: null, unread: [], notes: [] });
  });
});
