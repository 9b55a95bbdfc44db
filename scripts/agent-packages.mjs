// Makes the agent's packages that the build does not make: Node for arm64, so that install.sh works on such computers, and .deb and .rpm for both architectures.
//
//   npm run agent:packages
//
// The server offers the files of agent/dist/files at /agent/files/ after its next start. Needs dpkg-deb for .deb and rpmbuild (Debian's package rpm) for .rpm; a missing program is reported.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAgent, FILES, nodeArchive, nodeVersion, PROCESSORS, packNode } from './agent-package.mjs';
import { ROOT } from './node-runtime.mjs';

/** @typedef {(typeof PROCESSORS)[number]} Processor */

const NAME = 'palisade-agent';
const HOME = `opt/${NAME}`;
const SUMMARY = 'Agent of a Palisade security server';
const DESCRIPTION = 'Enforces firewall rules with nftables, scans files, and reports to its server.';
const UNITS = ['palisade-agent.service', 'palisade-firewall.service'];
/** Dependencies of Node's program. Node itself is in the package. */
const DEB_DEPENDS = 'libc6 (>= 2.28), libstdc++6, libgcc-s1';
const DEB_RECOMMENDS = 'nftables, conntrack, ca-certificates';

/** Whether a program is installed. @param {string} program @param {string[]} args with which it ends at once */
function isInstalled(program, args = ['--version']) {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** @param {string} name */
const scriptOf = (name) => readFileSync(join(ROOT, 'agent/install/package', `${name}.sh`), 'utf8');

/** Downloads Node for another architecture from npm, checks its hash against the lock file, and packs it. @param {string} cpu */
async function fetchNode(cpu) {
  if (existsSync(nodeArchive(cpu)) || existsSync(join(ROOT, `node_modules/node-linux-${cpu}/bin/node`))) return;
  const work = mkdtempSync(join(tmpdir(), 'palisade-node-'));
  try {
    const name = `node-linux-${cpu}`;
    execFileSync('npm', ['pack', '--silent', `${name}@${nodeVersion()}`, '--pack-destination', work], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [file = ''] = readdirSync(work);
    const sum = createHash('sha512')
      .update(readFileSync(join(work, file)))
      .digest('base64');
    const { integrity } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages[`node_modules/${name}`];
    if (integrity !== `sha512-${sum}`) throw new Error(`${name} does not have the hash of package-lock.json.`);
    execFileSync('tar', ['-xzf', join(work, file), '-C', work, 'package/bin/node']);
    await packNode(cpu, join(work, 'package/bin'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Lays out the files of a package below a folder, with the paths that they have after installation. @param {string} tree @param {Processor} processor */
export function stageTree(tree, { cpu }) {
  const home = join(tree, HOME);
  mkdirSync(join(home, 'bin'), { recursive: true });
  execFileSync('tar', ['-xzf', join(FILES, `${NAME}.tar.gz`), '-C', home, '--no-same-owner']);
  execFileSync('tar', ['-xzf', nodeArchive(cpu), '-C', join(home, 'bin'), '--no-same-owner']);
  // If the native module is missing, WebAssembly is used.
  if (cpu !== 'x64') rmSync(join(home, 'node_modules/@litko/yara-x-linux-x64-gnu'), { recursive: true, force: true });
  writeFileSync(join(home, 'PACKAGED'), 'The package manager owns this folder.\n');
  const units = join(tree, 'usr/lib/systemd/system');
  mkdirSync(units, { recursive: true });
  for (const unit of UNITS) cpSync(join(home, 'units', unit), join(units, unit));
  rmSync(join(home, 'units'), { recursive: true });
  mkdirSync(join(tree, 'usr/bin'), { recursive: true });
  symlinkSync(`/${HOME}/bin/${NAME}`, join(tree, 'usr/bin', NAME));
  execFileSync('chmod', ['-R', 'u+rwX,go+rX,go-w', tree]);
}

/** Total bytes of the files below a folder. @param {string} folder */
const sizeOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

/** Makes a .deb of a staged tree. @param {string} tree @param {string} version @param {Processor} processor @param {string} folder @param {number} [level] of gzip @returns {string} its path */
export function makeDeb(tree, version, { deb }, folder, level = 6) {
  const control = join(tree, 'DEBIAN');
  mkdirSync(control);
  writeFileSync(
    join(control, 'control'),
    `Package: ${NAME}\nVersion: ${version}\nArchitecture: ${deb}\nMaintainer: Palisade <noreply@palisade.invalid>\nInstalled-Size: ${Math.ceil(sizeOf(tree) / 1024)}\nDepends: ${DEB_DEPENDS}\nRecommends: ${DEB_RECOMMENDS}\nSection: admin\nPriority: optional\nDescription: ${SUMMARY}\n ${DESCRIPTION}\n`,
  );
  /** @param {string} name @param {string} when @param {string} script */
  const write = (name, when, script) =>
    writeFileSync(join(control, name), `#!/bin/sh\nset -e\n[ "$1" = ${when} ] || exit 0\n${script}`, { mode: 0o755 });
  write('postinst', 'configure', scriptOf('after-install'));
  write('prerm', 'remove', scriptOf('before-removal'));
  write('postrm', 'purge', scriptOf('purge'));
  const path = join(folder, `${NAME}_${version}_${deb}.deb`);
  // gzip, because dpkg of Debian 11 does not support zstd, and xz takes minutes for Node.
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', `-z${level}`, '--build', tree, path], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  rmSync(control, { recursive: true });
  return path;
}

/** Makes an .rpm of a staged tree. @param {string} tree @param {string} version @param {Processor} processor @param {string} folder @param {number} [level] of gzip @returns {string} its path */
export function makeRpm(tree, version, { rpm }, folder, level = 6) {
  const work = mkdtempSync(join(tmpdir(), 'palisade-rpm-'));
  try {
    const spec = join(work, `${NAME}.spec`);
    writeFileSync(
      spec,
      `%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
%define _binary_payload w${level}.gzdio
Name: ${NAME}
Version: ${version.replaceAll('-', '~')}
Release: 1
Summary: ${SUMMARY}
License: Apache-2.0
AutoReqProv: no
Requires: libstdc++
Recommends: nftables
Recommends: conntrack-tools
%description
${DESCRIPTION}
%install
cp -a ${tree}/. %{buildroot}/
%files
%defattr(-,root,root,-)
/${HOME}
/usr/bin/${NAME}
${UNITS.map((unit) => `/usr/lib/systemd/system/${unit}`).join('\n')}
%post
${scriptOf('after-install')}
%preun
[ "$1" = 0 ] || exit 0
${scriptOf('before-removal')}
%postun
[ "$1" = 0 ] || exit 0
${scriptOf('purge')}`,
    );
    execFileSync(
      'rpmbuild',
      ['-bb', '--quiet', '--target', `${rpm}-linux`, '--define', `_topdir ${work}`, '--define', `_rpmdir ${work}/out`, spec],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const [made = ''] = readdirSync(join(work, 'out', rpm));
    const path = join(folder, made);
    cpSync(join(work, 'out', rpm, made), path);
    return path;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function main() {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  for (const { cpu } of PROCESSORS) await fetchNode(cpu);
  await buildAgent();
  const makers = [
    { program: 'dpkg-deb', make: makeDeb },
    { program: 'rpmbuild', make: makeRpm },
  ].filter(({ program }) => {
    const is_there = isInstalled(program);
    if (!is_there) process.stdout.write(`palisade: ${program} is not installed, so its packages are not made.\n`);
    return is_there;
  });
  for (const processor of PROCESSORS) {
    const tree = mkdtempSync(join(tmpdir(), 'palisade-tree-'));
    try {
      stageTree(tree, processor);
      for (const { make } of makers) process.stdout.write(`${make(tree, version, processor, FILES)}\n`);
    } finally {
      rmSync(tree, { recursive: true, force: true });
    }
  }
}

if (process.argv[1] === import.meta.filename) await main();
