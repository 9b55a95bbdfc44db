import { asar } from './archives/asar.ts';
import { closedArchives, laterPart, unknownArchives } from './archives/closed-archives.ts';
import { gitPack } from './archives/git-pack.ts';
import { memberLists } from './archives/member-lists.ts';
import { phar } from './archives/phar.ts';
import { ar, arj, cab, chm, cpio, lzh, mslz, nsis, rar, rar5, rpm, sevenZip, wim, xar } from './archives/seven-zip-archives.ts';
import { shellArchive } from './archives/shell-archive.ts';
import { tar } from './archives/tar.ts';
import { zip, zipAtEnd, zipInPages } from './archives/zip.ts';
import { bareBlocks, blockStream } from './compression/block-streams.ts';
import { bzip2 } from './compression/bzip2.ts';
import { closedStreams, unknownStreams } from './compression/closed-streams.ts';
import { brotli, gzip, lzip, lzop, systemVPack, zisofs, zlib } from './compression/compressed.ts';
import { lz4, mozLz4 } from './compression/lz4.ts';
import { lzma, swf, unixCompress } from './compression/seven-zip-streams.ts';
import { snappy } from './compression/snappy.ts';
import { xz } from './compression/xz.ts';
import { zstd } from './compression/zstd.ts';
import { brokenStrings } from './data/broken-strings.ts';
import { closedData } from './data/closed-data.ts';
import { closedSecrets, unknownSecrets } from './data/closed-secrets.ts';
import { http } from './data/http.ts';
import { levelTable } from './data/leveldb.ts';
import { numpy } from './data/numpy.ts';
import { pickle } from './data/pickle.ts';
import { sqlite } from './data/sqlite.ts';
import { closedDisks, unknownDisks } from './disks/closed-disks.ts';
import { isoTrees } from './disks/iso-trees.ts';
import { rawDisc } from './disks/raw-disc.ts';
import {
  androidSparse,
  androidSuper,
  apfs,
  apm,
  cramfs,
  dmg,
  ext,
  fat,
  fixedVhd,
  gpt,
  helpStorage,
  hfs,
  hfsPlus,
  iso,
  mbr,
  namedImage,
  ntfs,
  ppmd,
  qcow,
  squashfs,
  udf,
  uefiVolume,
  vdi,
  vhd,
  vhdx,
  vmdk,
} from './disks/seven-zip-disks.ts';
import { streamDisk } from './disks/stream-disk.ts';
import { closedDocuments, unknownDocuments } from './documents/closed-documents.ts';
import { iwa } from './documents/iwa.ts';
import { oleDocument } from './documents/ole.ts';
import { oneNote } from './documents/onenote.ts';
import { pdf, pdfInMail, pdfWithin } from './documents/pdf.ts';
import { rtf } from './documents/rtf.ts';
import { macro } from './documents/vba.ts';
import type { CarvePattern, Format, Leaf } from './format.ts';
import { closedMail } from './mail/closed-mail.ts';
import { cmsMessage, pkcs12 } from './mail/cms.ts';
import { encodedFiles } from './mail/encoded-files.ts';
import { mailFolder, mailFolderBehind, mailMessage } from './mail/mail.ts';
import { openPgp, openPgpArmour } from './mail/openpgp.ts';
import { otherMailbox } from './mail/other-mailboxes.ts';
import { tnef } from './mail/tnef.ts';
import { fonts } from './media/font-formats.ts';
import { icons, pictures } from './media/picture-formats.ts';
import { sounds } from './media/sound-formats.ts';
import { programs } from './programs/program-formats.ts';
import { pyc } from './programs/pyc.ts';
import { innoSetup, setupLauncher, setupStream } from './programs/setup-launcher.ts';
import { packedProgram } from './programs/upx.ts';

/**
 * All formats of the scanner, in the order in which they are tried. First come the formats that are recognised by the first bytes, one of which is opened, then
 * formats that are found only inside other data, then leaf formats, and finally formats that a file may have in addition, which are opened one after the other.
 *
 * To add a format, add one file with its `format({...})`, its place in this list, and a folder in scanner/samples (`node scanner/test/format-samples.ts ID
 * FILE`). Then `node scripts/not-read.mjs` writes its limits into the documents.
 */
export const FORMATS: readonly Format[] = [
  zip,
  gzip,
  lz4,
  lzop,
  lzip,
  oleDocument,
  bzip2,
  streamDisk,
  sevenZip,
  rar,
  rar5,
  xz,
  zstd,
  cab,
  ar,
  cpio,
  lzh,
  chm,
  rpm,
  mslz,
  wim,
  xar,
  swf,
  ...closedArchives,
  ...closedStreams,
  ...closedDisks,
  ...closedDocuments,
  ...closedMail,
  ...closedData,
  ...closedSecrets,
  arj,
  unixCompress,
  lzma,
  gitPack,
  systemVPack,
  zisofs,
  mozLz4,
  pkcs12,
  tar,
  rtf,
  oneNote,
  tnef,
  cmsMessage,
  asar,
  zlib,
  ...memberLists,
  sqlite,
  rawDisc,
  pyc,
  numpy,
  snappy,
  blockStream,
  pickle,
  openPgp,
  otherMailbox,
  pdf,
  pdfWithin,
  mailMessage,
  mailFolder,

  phar,
  nsis,
  setupLauncher,
  setupStream,
  innoSetup,
  macro,

  ...pictures,
  ...programs,
  ...sounds,
  ...icons,
  ...fonts,

  iso,
  qcow,
  vmdk,
  vhdx,
  vhd,
  vdi,
  androidSparse,
  gpt,
  cramfs,
  apfs,
  androidSuper,
  squashfs,
  hfsPlus,
  uefiVolume,
  ppmd,
  helpStorage,
  udf,
  dmg,
  fixedVhd,
  ntfs,
  fat,
  mbr,
  ext,
  hfs,
  apm,
  namedImage,
  isoTrees,
  shellArchive,
  ...unknownArchives,
  ...unknownStreams,
  ...unknownDisks,
  ...unknownDocuments,
  ...unknownSecrets,
  laterPart,
  iwa,
  brotli,
  bareBlocks,
  levelTable,
  brokenStrings,
  zipAtEnd,
  zipInPages,
  pdfInMail,
  mailFolderBehind,
  encodedFiles,
  http,
  openPgpArmour,
  packedProgram,
];

/** All formats with leaf properties. */
export const LEAF_FORMATS: readonly (Format & { leaf: Leaf })[] = FORMATS.flatMap((format) =>
  format.leaf === undefined ? [] : [{ ...format, leaf: format.leaf }],
);

/** A carving pattern with its format. */
export interface Carved extends CarvePattern {
  id: string;
  title: string;
  format: Format;
}

/** All carving patterns with their ids. */
export const CARVED: readonly Carved[] = FORMATS.flatMap((format) =>
  (format.carve ?? []).map((pattern) => ({
    ...pattern,
    id: pattern.id ?? format.id,
    title: pattern.title ?? pattern.id ?? format.id,
    format,
  })),
);

const CARVED_BY_ID: ReadonlyMap<string, Carved> = new Map(CARVED.map((carved) => [carved.id, carved]));

/** The pattern with this id; undefined for an id unknown to this version. */
export function carvedById(id: string): Carved | undefined {
  return CARVED_BY_ID.get(id);
}

/** Formats with a search in code in place of a pattern. Their matches count as guesses. */
export const SEARCHED: readonly { carved: Carved; search: NonNullable<Format['search']> }[] = FORMATS.flatMap((format) =>
  format.search === undefined
    ? []
    : [{ carved: { id: format.id, title: format.id, pattern: '', is_guess: true, format }, search: format.search }],
);
