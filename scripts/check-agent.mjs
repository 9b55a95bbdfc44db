// `npm run check:agent` tests the agent on a fresh Debian (made by mmdebstrap, booted with systemd in namespaces): it enrols the computer with the shown command,
// applies a rule, reboots twice (once without a connection to the server), uninstalls the agent, and compares the files with those before. Needs root, the built
// product, and the Debian package mmdebstrap. It takes two minutes, so it is not part of `npm test`.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// biome-ignore lint/style/noRestrictedImports: what the journeys and the agent's tests have, set up as it is there.
import { createNamespace, endNamespace, endNamespaces, join2 } from '../agent/test/namespace.ts';
// biome-ignore lint/style/noRestrictedImports: what the journeys and the agent's tests have, set up as it is there.
import { startProduct } from '../e2e/product.ts';
// biome-ignore lint/style/noRestrictedImports: what the journeys and the agent's tests have, set up as it is there.
import { freePort } from '../server/test/free-port.ts';
import { ROOT } from './node-runtime.mjs';

const NAME = 'palisade.example';
const SERVER = '10.77.0.2';
const place = mkdtempSync(join(tmpdir(), 'palisade-computer-'));
const root = join(place, 'root');
const began = Date.now();

/** @param {string} line */
const say = (line) => process.stdout.write(`palisade: ${line}\n`);

/** Runs a command and returns its output. Throws if it fails. @param {string} command @param {string[]} args */
function must(command, ...args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? ''}${stdout}${stderr}`);
  return stdout;
}

/** @template T @param {string} name @param {() => T | undefined | false | Promise<T | undefined | false>} look @returns {Promise<T>} */
async function waitFor(name, look) {
  let reason = '';
  for (const until = Date.now() + 120_000; Date.now() < until; ) {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen;
    } catch (error) {
      reason = String(error);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${name} did not come. ${reason}`);
}

/** @param {boolean} is_so @param {string} sentence */
function hold(is_so, sentence) {
  if (!is_so) throw new Error(`It does not hold that ${sentence}`);
  say(sentence);
}

// Boots the computer in its own namespaces for processes, network, mounts and control groups. systemd is process 1.
const BOOT = `set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount -t sysfs -o ro sysfs "$1/sys"
mount -t tmpfs none "$1/dev"
for name in null zero full random urandom tty; do touch "$1/dev/$name"; mount --bind "/dev/$name" "$1/dev/$name"; done
mkdir "$1/dev/pts" "$1/dev/shm"
ln -s /proc/self/fd "$1/dev/fd"
mount -t tmpfs none "$1/run"
mount -t tmpfs none "$1/tmp"
mount -t cgroup2 cgroup2 "$1/sys/fs/cgroup"
exec env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$1" /lib/systemd/systemd`;

/** Lists the files of the computer, without temporary files, logs and state of systemd. */
function filesOf() {
  const skipped = ['proc', 'sys', 'dev', 'run', 'tmp', 'var/log', 'var/lib/systemd'].flatMap((name) => [
    ...['-path', join(root, name), '-prune', '-o'],
  ]);
  return must('find', root, ...skipped, '-printf', '%P %y %m %s %l\n')
    .split('\n')
    .filter((line) => !/^\S* d /u.test(line))
    .sort();
}

/** Process id of the first child of a process. @param {number} pid */
const childOf = (pid) => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]) || undefined;

/**
 * Boots the computer in its own network namespace, with or without a connection to its server.
 * @param {string | undefined} way_out
 */
async function switchOn(way_out) {
  const network = createNamespace();
  const neighbour = createNamespace(network);
  join2(network, neighbour);
  if (way_out !== undefined) {
    const relay = neighbour.start(process.execPath, [
      ...[join(ROOT, 'e2e/relay.ts'), SERVER, NAME, join(place, 'key.pem'), join(place, 'certificate.pem'), way_out],
    ]);
    await new Promise((resolve) => relay.stdout?.once('data', resolve));
  }
  const unshared = ['unshare', '--pid', '--fork', '--mount', '--uts', '--ipc', '--cgroup', '--kill-child'];
  const machine = network.start('env', [...unshared, 'sh', '-c', BOOT, 'sh', root]);
  const off = new Promise((resolve) => machine.once('exit', resolve));
  const pid = await waitFor('process 1', () => childOf(machine.pid ?? 0));
  const inside = ['-t', String(pid), '-m', '-u', '-i', '-n', '-p', '-C', 'chroot', root];
  // Asynchronous, because the command's requests to the server go through this process.
  /** @param {string} line @returns {Promise<string>} */
  const shell = (line) =>
    new Promise((resolve, reject) => {
      const child = spawn('nsenter', [...inside, 'sh', '-c', line], {
        env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
      child.once('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`${line} ended with ${code}: ${output}`))));
    });
  await waitFor('systemd', async () => (await shell('systemctl is-system-running')).trim() === 'running');
  return {
    shell,
    async switchOff() {
      await shell('systemctl poweroff').catch(() => '');
      await Promise.race([off, new Promise((resolve) => setTimeout(resolve, 20_000))]);
      machine.kill('SIGKILL');
      endNamespace(neighbour);
      endNamespace(network);
    },
  };
}

/** @param {string} url */
async function signIn(url) {
  /** @param {string} path @param {{ method?: string, body?: unknown, token?: string }} [options] */
  async function call(path, { method = 'GET', body, token } = {}) {
    const headers = {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const response = await fetch(`${url}/api${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }
  const person = { email: 'maria@example.com', username: 'maria', password: 'a long enough password' };
  await call('/auth/register', { method: 'POST', body: person });
  const { access_token: token } = await call('/auth/login', { method: 'POST', body: person });
  return (/** @type {string} */ path, method = 'GET', /** @type {unknown} */ body = undefined) =>
    call(path, { method, body, token });
}

async function check() {
  if (process.getuid?.() !== 0) throw new Error('Run it as root: it makes and starts a computer.');
  if (spawnSync('mmdebstrap', ['--version']).status !== 0)
    throw new Error('There is no mmdebstrap: install the package mmdebstrap.');
  say('making a Debian...');
  const base = process.argv[2];
  if (base === undefined)
    must(
      'mmdebstrap',
      '--quiet',
      '--variant=minbase',
      '--include=ca-certificates,curl,systemd,systemd-sysv,nftables,conntrack',
      'bookworm',
      root,
    );
  else {
    mkdirSync(root);
    must('tar', '-xf', base, '-C', root);
  }
  for (const name of ['proc', 'sys', 'dev', 'run', 'tmp']) mkdirSync(join(root, name), { recursive: true });
  for (const name of readdirSync(join(root, 'dev'))) rmSync(join(root, 'dev', name), { recursive: true, force: true });
  must(
    ...['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
    ...['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`],
    ...['-keyout', join(place, 'key.pem'), '-out', join(place, 'certificate.pem')],
  );
  // The computer trusts this certificate authority, like a company's own.
  const authorities = join(root, 'etc/ssl/certs/ca-certificates.crt');
  writeFileSync(authorities, readFileSync(authorities, 'utf8') + readFileSync(join(place, 'certificate.pem'), 'utf8'));
  rmSync(join(root, 'etc/resolv.conf'), { force: true });
  writeFileSync(join(root, 'etc/resolv.conf'), `nameserver ${SERVER}\n`);
  writeFileSync(join(root, 'etc/machine-id'), '');

  const data = join(place, 'data');
  // The server is configured with the address at which devices reach it.
  const port = await freePort();
  const product = await startProduct(data, { EXPOSURE: 'local', PUBLIC_URL: `https://${NAME}`, PORT: String(port) });
  const way_out = join(place, 'out.sock');
  const gate = createServer((peer) => {
    const inner = connect(port, '127.0.0.1');
    peer.pipe(inner).pipe(peer);
    peer.on('error', () => inner.destroy());
    inner.on('error', () => peer.destroy());
  });
  await new Promise((resolve) => gate.listen(way_out, () => resolve(undefined)));
  const call = await signIn(`http://127.0.0.1:${port}`);
  const device = async () => (await call('/devices'))[0];

  let computer = await switchOn(way_out);
  try {
    await computer.shell('touch /etc/touched-once');
    await computer.switchOff();
    // Files that the first boot creates do not count.
    computer = await switchOn(way_out);
    const before = filesOf();

    const { code, command } = await call('/devices/enrolment-code', 'POST');
    hold(command === `curl -fsS https://${NAME}/agent/install.sh | sudo sh`, `the page shows: ${command}`);
    // The computer has only the user root, and no sudo.
    const file = `(umask 077; echo ${code} >/root/code)`;
    const said = await computer.shell(`${file}; ${command.replace('sudo ', '')} -s -- --code-file /root/code`);
    hold(said.includes('The agent runs') || said.includes('the agent runs'), 'the command installs, enrols and starts the agent');
    const verified = await computer.shell('systemd-analyze verify /etc/systemd/system/palisade-*.service 2>&1');
    hold(verified.trim() === '', 'systemd has nothing against its units');
    await waitFor('the device', async () => (await device())?.state === 'waiting');
    const { id, fingerprint } = await device();
    hold(said.includes(fingerprint), 'the agent shows the fingerprint of the page');
    await call(`/devices/${id}/confirm`, 'POST', { fingerprint });
    await waitFor('the device', async () => (await device())?.state === 'online');
    hold(
      (await device()).capabilities.firewall === 'nftables',
      'it says that it enforces rules by nftables, with the capabilities of its unit alone',
    );

    await call('/firewall/rules', 'POST', {
      rule_name: 'No visitors',
      action: 'block',
      source_ip: '*',
      destination_ip: '*',
      port: '8080',
    });
    await waitFor('the rule', async () => (await device()).enforcement.state === 'applied' && (await device()).rules_count === 1);
    hold((await computer.shell('nft list table inet palisade')).includes('8080'), 'a rule of the page reaches its kernel');
    await waitFor('a status', async () => (await computer.shell('palisade-agent status')).includes('connected'));

    await computer.switchOff();
    await waitFor('the absence', async () => (await device()).state === 'offline');
    computer = await switchOn(undefined);
    hold(
      (await computer.shell('systemctl show -P Result palisade-firewall')).trim() === 'success',
      'after a restart without its server the boot unit has run',
    );
    hold(
      (await computer.shell('nft list table inet palisade')).includes('8080'),
      'the last confirmed rules are in force without the server',
    );
    const times = await computer.shell(
      'systemctl show -P ExecMainExitTimestampMonotonic palisade-firewall; systemctl show -P ExecMainStartTimestampMonotonic palisade-agent',
    );
    const [loaded = 0, started = 0] = times.trim().split('\n').map(Number);
    hold(loaded > 0 && loaded < started, 'they were loaded before the agent was started');
    await computer.switchOff();

    computer = await switchOn(way_out);
    await waitFor('the device', async () => (await device()).state === 'online');
    hold(
      (await device()).enforcement.state === 'applied',
      'after another restart the device is online again, with its rules applied',
    );

    hold((await computer.shell('palisade-agent uninstall')).includes('The server was told'), 'uninstalling tells the server');
    hold((await device()).state === 'revoked', 'the page shows the device as revoked');
    hold(!(await computer.shell('nft list ruleset')).includes('palisade'), 'no rule is left in the kernel');
    hold(
      !(await computer.shell('systemctl list-units --all --no-legend; systemctl list-unit-files --no-legend')).includes(
        'palisade',
      ),
      'no unit is left',
    );
    hold(
      !(await computer.shell('ps -e -o args 2>/dev/null || cat /proc/[0-9]*/cmdline | tr "\\0" " "')).includes(
        'palisade-agent run',
      ),
      'no process is left',
    );
    const after = filesOf();
    const left = after.filter((line) => !before.includes(line));
    const gone = before.filter((line) => !after.includes(line));
    hold(
      left.length === 0 && gone.length === 0,
      `no file is left, changed or gone${[...left, ...gone].map((line) => `\n  ${line}`).join('')}`,
    );
    await computer.switchOff();
    computer = await switchOn(undefined);
    hold((await computer.shell('systemctl is-system-running')).trim() === 'running', 'the computer starts without it');
  } catch (error) {
    process.stdout.write(await computer.shell('journalctl -q --no-pager -n 40').catch(String));
    throw error;
  } finally {
    await computer.switchOff();
    gate.close();
    await product.stop();
  }
}

let code = 0;
try {
  await check();
  say(`a computer was installed, restarted and left as it was (${Math.round((Date.now() - began) / 1_000)} s).`);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  code = 1;
} finally {
  endNamespaces();
  rmSync(place, { recursive: true, force: true });
}
process.exit(code);
