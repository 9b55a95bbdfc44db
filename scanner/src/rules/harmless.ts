import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { deflateRawSync, gzipSync } from 'node:zlib';

// Harmless files that feeds are tested on: files of the installation itself, which are the same wherever the same version is installed, and
// documents generated here. They are not stored: docs/decisions/scanner.md.

/** A harmless file; `name`: for use in sentences. */
export interface HarmlessFile {
  name: string;
  bytes: Buffer;
}

/** Number of files that a feed's rules are tested on. */
export const HARMLESS_FILES = 2_000;
/** Only the first bytes of a larger file are used. Bytes. */
const READ_MAXIMUM = 256 * 1024;
/** Maximum number of files with one extension, and of one project folder, so that the set is varied. */
const PER_ENDING = 400;
const PER_OWN_FOLDER = 60;
const ENTRIES_PER_FOLDER = 4_000;
/**
 * Folders of this project, used in this order before the packages. Folders that contain descriptions of threats
 * are left out.
 */
const OWN_FOLDERS = ['contract/src', 'web/src', 'server/src/platform', 'server/migrations', 'scripts', 'docs'];
const SUBJECTS = ['invoice', 'minutes', 'menu', 'timetable', 'recipe', 'inventory', 'newsletter', 'contract', 'survey', 'manual'];

const WORDS =
  'The garden opens at nine in the morning and closes when it gets dark; tickets are sold at the gate, and dogs stay outside. ';

/** Generates ordinary files of many types. `number` makes them differ. */
function documentsOf(subject: string, number: number): HarmlessFile[] {
  const text = `${subject} ${number}\n\n${WORDS.repeat(2 + (number % 5))}\n`;
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<document title="${subject}"><p>${WORDS}</p></document>\n`;
  const rows = Array.from({ length: 12 }, (_, row) => `${row},${subject},${(row * 7 + number) % 90}.50`).join('\n');
  const files: [string, string | Buffer][] = [
    ['txt', text],
    ['csv', `id,name,price\n${rows}\n`],
    ['json', JSON.stringify({ subject, number, words: WORDS.split(' ') }, null, 2)],
    ['xml', xml],
    [
      'html',
      `<!doctype html>\n<html lang="en"><head><title>${subject}</title></head><body><h1>${subject}</h1><p>${WORDS}</p><a href="https://www.example.com/">more</a></body></html>\n`,
    ],
    ['ini', `[${subject}]\nnumber=${number}\npath=C:\\Users\\anna\\Documents\n`],
    [
      'sh',
      `#!/bin/sh\nset -eu\ncd "$(dirname "$0")"\nmkdir -p backup\ntar czf "backup/${subject}-${number}.tar.gz" documents\nfind backup -mtime +30 -delete\n`,
    ],
    [
      'ps1',
      `param([string]$Folder = "C:\\${subject}")\nGet-ChildItem -Path $Folder -Recurse | Where-Object { $_.Length -gt ${number}MB } | Sort-Object Length | Format-Table Name, Length\n`,
    ],
    ['bat', `@echo off\r\nrem ${subject}\r\nif not exist out mkdir out\r\nfor %%f in (*.csv) do copy "%%f" out\\\r\n`],
    [
      'py',
      `import csv\n\n\ndef total(path):\n    with open(path, newline="") as file:\n        return sum(float(row["price"]) for row in csv.DictReader(file))\n\n\nprint(total("${subject}.csv"))\n`,
    ],
    [
      'php',
      `<?php\ndeclare(strict_types=1);\n$title = htmlspecialchars('${subject}');\nforeach ([1, 2, ${number}] as $row) {\n    echo "<p>{$title}: {$row}</p>\\n";\n}\n`,
    ],
    [
      'vbs',
      `Option Explicit\r\nDim total, row\r\nFor row = 1 To ${number + 1}\r\n  total = total + row\r\nNext\r\nMsgBox "${subject}: " & total\r\n`,
    ],
    [
      'sql',
      `CREATE TABLE ${subject} (id integer PRIMARY KEY, price numeric);\nINSERT INTO ${subject} VALUES (${number}, 12.50);\nSELECT sum(price) FROM ${subject};\n`,
    ],
    [
      'log',
      Array.from(
        { length: 20 },
        (_, row) => `2026-11-${10 + (row % 20)} 10:${10 + row} 192.0.2.${row} GET /${subject}/${row} 200 ${row * 311}`,
      ).join('\n'),
    ],
    [
      'eml',
      `From: anna@example.com\r\nTo: berta@example.com\r\nSubject: ${subject}\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nDear Berta,\r\n\r\n${WORDS}\r\n\r\nYours, Anna\r\n`,
    ],
    ['rtf', `{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0 Arial;}}\\f0\\fs24 ${subject}\\par ${WORDS}\\par}`],
    [
      'ics',
      `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:${subject}-${number}@example.com\r\nSUMMARY:${subject}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`,
    ],
    [
      'svg',
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><circle cx="5" cy="5" r="${1 + (number % 4)}"/></svg>\n`,
    ],
    [
      'pdf',
      `%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>\nendobj\ntrailer\n<< /Root 1 0 R /Info << /Title (${subject}) >> >>\n%%EOF\n`,
    ],
    ['txt in UTF-16', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])],
    ['gz', gzipSync(text)],
    ['deflated', deflateRawSync(xml)],
    ['exe', programFor(number)],
    [
      'elf',
      Buffer.concat([
        Buffer.from('7f454c4602010100000000000000000002003e0001000000', 'hex'),
        Buffer.alloc(200 + number),
        Buffer.from(text),
      ]),
    ],
    ['bin', Buffer.from(Array.from({ length: 700 }, (_, at) => (at * 131 + number * 17 + (at >> 3)) & 0xff))],
  ];
  return files.map(([ending, content]) => ({ name: `a ${subject} (${ending})`, bytes: Buffer.from(content) }));
}

/** Header of a Windows program, with the strings that every such program has. */
function programFor(number: number): Buffer {
  const bytes = Buffer.alloc(1024 + number);
  bytes.write('MZ', 0, 'latin1');
  bytes.writeUInt32LE(128, 60);
  bytes.write('This program cannot be run in DOS mode.\r\r\n$', 78, 'latin1');
  bytes.write('PE\0\0\x4c\x01\x01\0', 128, 'latin1');
  bytes.writeUInt16LE(224, 148);
  bytes.writeUInt16LE(0x102, 150);
  bytes.writeUInt16LE(0x10b, 152);
  bytes.write('.text', 376, 'latin1');
  bytes.write('KERNEL32.dll\0GetProcAddress\0LoadLibraryA\0ExitProcess\0USER32.dll\0MessageBoxA\0', 600, 'latin1');
  return bytes;
}

/** The files below a folder, sorted by name, until the budget of entries is used up. */
function* below(folder: string, budget: { entries: number }): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1))) {
    budget.entries -= 1;
    if (budget.entries < 0) return;
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules') yield* below(path, budget);
    else if (entry.isFile()) yield path;
  }
}

/** Folders of packages, including those within scopes. */
function packagesOf(folder: string): string[] {
  if (!isFolder(folder)) return [];
  return (
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => name)
      .sort()
      .flatMap((name) =>
        name.startsWith('@')
          ? readdirSync(join(folder, name))
              .sort()
              .map((inner) => join(folder, name, inner))
          : [join(folder, name)],
      )
      // This package contains scam messages as samples.
      .filter((path) => !path.endsWith(join('@palisade', 'scam')))
  );
}

function firstBytes(path: string): Buffer {
  return readFileSync(path).subarray(0, READ_MAXIMUM);
}

/**
 * The harmless files, always in the same order. `installation`: folder of the product; files missing there are missing in
 * the set.
 */
export function* harmlessFiles(installation: string): Generator<HarmlessFile> {
  let count = 0;
  for (const [number, subject] of SUBJECTS.entries()) {
    for (const file of documentsOf(subject, number)) {
      count += 1;
      yield file;
    }
  }
  const endings = new Map<string, number>();
  const own = OWN_FOLDERS.map((folder) => join(installation, folder)).filter(isFolder);
  const packages = packagesOf(join(installation, 'node_modules'));
  // Each package may give 1.4 times an equal share, because many packages have fewer files.
  const share = Math.ceil((1.4 * (HARMLESS_FILES - count - own.length * PER_OWN_FOLDER)) / Math.max(1, packages.length));
  const sources = [
    ...own.map((folder) => ({ folder, most: PER_OWN_FOLDER })),
    ...packages.map((folder) => ({ folder, most: share })),
  ];
  for (const { folder, most } of sources) {
    let taken = 0;
    for (const path of below(folder, { entries: ENTRIES_PER_FOLDER })) {
      if (taken >= most || count >= HARMLESS_FILES) break;
      const ending = extname(path).toLowerCase();
      const of_this = endings.get(ending) ?? 0;
      if (of_this >= PER_ENDING || statSync(path).size === 0) continue;
      endings.set(ending, of_this + 1);
      taken += 1;
      count += 1;
      yield { name: path.slice(installation.length + 1), bytes: firstBytes(path) };
    }
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
