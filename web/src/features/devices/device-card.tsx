import type { ScanKind } from '@palisade/contract/agent';
import { deviceNameSchema } from '@palisade/contract/device-name';
import {
  changeDevice,
  type Device,
  type Enforcement,
  removeDevice,
  revokeDevice,
  startDeviceScan,
  steerDeviceScan,
} from '@palisade/contract/devices';
import { formatList, formatNumber, formatPercent, plural } from '@palisade/contract/intl';
import { switchAgentNames } from '@palisade/contract/web-protection';
import { IconAlertTriangle, IconDeviceDesktop, IconPencil } from '@tabler/icons-react';
import { useCallback, useEffect, useId, useMemo, useRef, useState } from 'react';
import { CallError, call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { ShowToSupport } from '#domain/conversation/show-to-support.tsx';
import { Badge, IconTile } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { CopyButton } from '#ui/copy-button.tsx';
import { Countdown } from '#ui/countdown.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { isEscape } from '#ui/pressed.ts';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { ConfirmDevice } from './confirm-device.tsx';
import { DeepScan } from './deep-scan.tsx';
import { healthNotes } from './device-health.ts';
import { type Problem, problemsOf } from './device-problems.ts';
import { CHECKS, DEVICE_LINES, DEVICE_STATES, ENFORCEMENTS } from './device-words.ts';
import { Folders } from './folders.tsx';
import { WebProtectionPart } from './web-protection-part.tsx';

interface DeviceCardProps {
  device: Device;
  ruleNames: ReadonlyMap<string, string>;
  /** True if web protection is on for it; undefined if unknown. */
  isWebWanted: boolean | undefined;
  /** Scrolls to the card; defined if the address names this device. */
  reach: ((card: HTMLElement | null) => void) | undefined;
  /** Called when the server no longer knows the device. */
  onMissing: (device: Device) => void;
}

/** One computer: its problems, then its rules, health, scans and actions. */
export function DeviceCard({ device, ruleNames, isWebWanted, reach, onMissing }: DeviceCardProps) {
  const now = useMinute();
  const id = useId();
  const [failure, setFailure] = useState('');
  const { mutate, isPending } = useChange({
    of: [changeDevice, startDeviceScan, steerDeviceScan, revokeDevice, removeDevice, switchAgentNames],
    mutationFn(work: () => Promise<unknown>) {
      setFailure('');
      return work();
    },
    onError(error) {
      setFailure(sentenceOf(error));
      if (error instanceof CallError && error.status === 404) onMissing(device);
    },
  });
  const params = { id: device.id };
  const { label, tone } = DEVICE_STATES[device.state];
  const card = useRef<HTMLElement>(null);
  useEffect(() => reach?.(card.current), [reach]);
  const startScan = (scan: ScanKind, path: string | null) =>
    mutate(() => call(startDeviceScan, { params, body: { scan, path } }));
  const seen_at = device.revoked_at ?? device.last_seen_at;
  const isRevoked = device.state === 'revoked';
  const isWaiting = device.state === 'waiting';
  const problems = problemsOf(device, ruleNames, now);
  const [worst] = problems;
  const need = worst && (worst.is_danger ? 'danger' : 'attention');
  return (
    <Stack
      as="section"
      ref={card}
      gap="4"
      className="card device"
      tabIndex={-1}
      data-asked={reach !== undefined}
      aria-labelledby={id}
      aria-busy={isPending}
    >
      <Grid columns="both" phone="under" gap="3" align="center">
        <IconTile tone={need ?? (tone === 'plain' ? 'note' : tone)} icon={IconDeviceDesktop} />
        <div>
          <DeviceName
            device={device}
            titleId={id}
            onSave={(device_name, onDone) =>
              mutate(() => call(changeDevice, { params, body: { device_name } }), { onSuccess: onDone })
            }
          />
          <p className="sub">
            <Sentence
              text={seen_at === null ? '{system}' : DEVICE_LINES[device.state]}
              parts={{ system: device.os.name || device.hostname, when: seen_at && <Moment iso={seen_at} now={now} /> }}
            />
          </p>
        </div>
        <Badge tone={tone}>{label}</Badge>
      </Grid>
      {isWaiting && <ConfirmDevice device={device} />}
      {isRevoked && <p className="base">It gets no rules, and its reports don’t count. Remove it, or add it again.</p>}
      <Problems problems={problems} onScan={() => startScan('full', null)} />
      {!isRevoked && !isWaiting && (
        <Grid columns="fit-l" gap="5" className="device__parts">
          <Rules device={device} />
          <Health device={device} />
          <DeepScan
            device={device}
            onStart={startScan}
            onSteer={(scan_id, wanted) => mutate(() => call(steerDeviceScan, { params: { id: scan_id }, body: { wanted } }))}
          />
          {isWebWanted !== undefined && device.os.platform === 'linux' && (
            <WebProtectionPart
              device={device}
              isWanted={isWebWanted}
              onSwitch={(is_on) => mutate(() => call(switchAgentNames, { params, body: { is_on } }))}
            />
          )}
          <Checks device={device} />
          <Folders device={device} onChange={(folders) => mutate(() => call(changeDevice, { params, body: folders }))} />
        </Grid>
      )}
      <Refusal error={failure}>{failure}</Refusal>
      <Row gap="2" justify="end">
        <ShowToSupport kind="device" id={device.id} name={device.device_name} />
        {!isRevoked && !isWaiting && device.capabilities?.firewall === 'nftables' && (
          <Button
            variant="quiet"
            onClick={() => {
              const inbound = device.defaults.inbound === 'allow' ? 'block' : 'allow';
              const question =
                inbound === 'block'
                  ? `Block all inbound traffic to “${device.device_name}” that no rule allows?${listening(device)}`
                  : `Allow all inbound traffic to “${device.device_name}” that no rule blocks?`;
              if (window.confirm(question)) mutate(() => call(changeDevice, { params, body: { defaults: { inbound } } }));
            }}
          >
            {device.defaults.inbound === 'allow' ? 'Block inbound traffic' : 'Allow inbound traffic'}
          </Button>
        )}
        {isWaiting ? null : isRevoked ? (
          <Button variant="quiet" onClick={() => mutate(() => call(removeDevice, { params }))}>
            Remove device
          </Button>
        ) : (
          <Button
            variant="quiet"
            onClick={() => {
              if (window.confirm(`Revoke “${device.device_name}”? Its rules stop applying, and you can add another device.`))
                mutate(() => call(revokeDevice, { params }));
            }}
          >
            Revoke device
          </Button>
        )}
      </Row>
    </Stack>
  );
}

/** The problems of a device, each with its action. */
function Problems({ problems, onScan }: { problems: readonly Problem[]; onScan: () => void }) {
  if (problems.length === 0) return null;
  return (
    <Stack as="ul" gap="2" aria-label="Needs you">
      {problems.map(({ is_danger, sentence, fix }) => (
        <Grid
          key={sentence}
          as="li"
          columns="tail"
          phone="stack"
          gap="3"
          rowGap="2"
          align="center"
          className={`pad-m base ${is_danger ? 'surface-red red' : 'surface-amber amber'}`}
        >
          <Grid columns="lead" gap="2" align="start" className="break">
            <IconAlertTriangle size={18} stroke={1.8} aria-hidden="true" />
            <span>
              {sentence}
              {fix && 'command' in fix && <code className="block mono small ink">{fix.command}</code>}
            </span>
          </Grid>
          {fix && 'to' in fix && (
            <ScreenLink to={fix.to} variant="quiet" size="s">
              {fix.label}
            </ScreenLink>
          )}
          {fix && 'scan' in fix && (
            <Button variant="quiet" size="s" onClick={onScan}>
              Scan again
            </Button>
          )}
          {fix && 'command' in fix && (
            <CopyButton text={fix.command} copied="The command was copied." label="Copy command" size="s" />
          )}
        </Grid>
      ))}
    </Stack>
  );
}

/** Number of open ports that the question names. */
const NAMED = 8;

/** Names the open ports that other computers could no longer reach; empty if there are none. */
function listening({ telemetry }: Device): string {
  const open = [...new Set(telemetry?.listening.map(({ port, program }) => (program ? `${program} (${port})` : String(port))))];
  if (open.length === 0) return '';
  const named = open.length > NAMED ? [...open.slice(0, NAMED), '…'] : open;
  return `\n\nOthers won’t be able to reach: ${formatList(named, 'plain')}.`;
}

interface DeviceNameProps {
  device: Device;
  titleId: string;
  onSave: (device_name: string, onDone: () => void) => void;
}

function DeviceName({ device, titleId, onSave }: DeviceNameProps) {
  const [name, setName] = useState<string>();
  const message = name === undefined ? undefined : deviceNameSchema.safeParse(name).error?.issues[0]?.message;
  if (name === undefined) {
    return (
      <Row gap="1" wrap={false}>
        <h2 id={titleId}>
          <bdi className="break">{device.device_name}</bdi>
        </h2>
        <button
          type="button"
          className="icon-button"
          aria-label={`Rename ${device.device_name}`}
          title="Rename"
          onClick={() => setName(device.device_name)}
        >
          <IconPencil size={16} stroke={1.7} aria-hidden="true" />
        </button>
      </Row>
    );
  }
  return (
    <Form
      error={null}
      busy={false}
      onSubmit={() => {
        if (message !== undefined) return;
        // After a refusal the field stays open, so the name can be corrected or sent again.
        onSave(name, () => setName(undefined));
      }}
      onKeyDown={(event) => {
        if (isEscape(event)) setName(undefined);
      }}
    >
      <h2 id={titleId} className="visually-hidden">
        {device.device_name}
      </h2>
      <Row gap="2">
        <input
          className="field grow"
          aria-label="Device name"
          aria-invalid={message !== undefined}
          title={message}
          // biome-ignore lint/a11y/noAutofocus: the field replaces the button that opened it
          autoFocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Submit size="s" variant="quiet" disabled={message !== undefined}>
          Save
        </Submit>
      </Row>
    </Form>
  );
}

function describeRules(count: number, isRestBlocked: boolean): string {
  const rules = formatNumber(count);
  return isRestBlocked
    ? plural(count, {
        one: '1 rule, other inbound traffic blocked',
        other: `${rules} rules, other inbound traffic blocked`,
      })
    : plural(count, { one: '1 rule', other: `${rules} rules` });
}

function Rules({ device }: { device: Device }) {
  const now = useMinute();
  const { enforcement, capabilities, rules_count } = device;
  const isUnavailable = capabilities?.firewall === 'unavailable';
  const state: Enforcement['state'] = isUnavailable ? 'unavailable' : enforcement.state;
  const { label, tone, sentence } = ENFORCEMENTS[state];
  const isPast = state === 'applied' && device.state !== 'online';
  return (
    <Stack gap="2" className="top shrink base">
      <h3>Firewall</h3>
      <p>
        <Badge tone={isPast ? 'plain' : tone}>{label}</Badge> {describeRules(rules_count, device.defaults.inbound === 'block')}
      </p>
      {!isUnavailable && (
        <p className="sub">
          {isPast ? 'Your latest rules applied when it last reported.' : sentence}{' '}
          {enforcement.seconds_left !== null && <TrialEnd seconds_left={enforcement.seconds_left} />}
          {enforcement.pending_since !== null && enforcement.seconds_left === null && (
            <Sentence text="Since {when}." parts={{ when: <Moment iso={enforcement.pending_since} now={now} /> }} />
          )}
        </p>
      )}
      {device.foreign_tables.some(({ drops }) => drops) && (
        <p className="sub">
          <Sentence
            text="Another firewall there also blocks traffic ({tables}). Your rules can’t override it."
            parts={{
              tables: formatList(
                device.foreign_tables.filter(({ drops }) => drops).map(({ name }) => name),
                'plain',
              ),
            }}
          />
        </p>
      )}
      {capabilities?.firewall === 'nftables' && capabilities.containers && (
        <p className="sub">Your rules limit what reaches containers there, but not what they send.</p>
      )}
    </Stack>
  );
}

/** Countdown until the previous rules return, unless the device confirms that it still reaches the server. Uses this computer's clock, because the server sends the remaining time. */
function TrialEnd({ seconds_left }: { seconds_left: number }) {
  const until = useMemo(() => Date.now() + seconds_left * 1_000, [seconds_left]);
  const [isOver, setIsOver] = useState(false);
  const end = useCallback(() => setIsOver(true), []);
  return isOver ? (
    <>The previous rules return now.</>
  ) : (
    <Sentence
      text="If that fails, the previous rules return in {time}."
      parts={{ time: <Countdown until={until} onEnd={end} /> }}
    />
  );
}

function Health({ device }: { device: Device }) {
  const now = useMinute();
  const { telemetry, telemetry_at } = device;
  return (
    <Stack gap="2" className="top shrink base">
      <h3>Health</h3>
      {healthNotes(device).map((note) => (
        <p key={note} className="sub">
          {note}
        </p>
      ))}
      {telemetry === null || telemetry_at === null ? (
        <p className="sub">No measurements yet.</p>
      ) : (
        <>
          <Row as="dl" wrap={false} gap="5" align="stretch" className="num">
            <div>
              <dt className="muted tiny">CPU</dt>
              <dd className="title">{formatPercent(telemetry.cpu_percent / 100)}</dd>
            </div>
            <div>
              <dt className="muted tiny">Memory</dt>
              <dd className="title">{formatPercent(telemetry.memory_percent / 100)}</dd>
            </div>
            <div>
              <dt className="muted tiny">Open ports</dt>
              <dd className="title">{telemetry.listening.length}</dd>
            </div>
          </Row>
          <p className="sub">
            <Sentence text="Measured {when}" parts={{ when: <Moment iso={telemetry_at} now={now} /> }} />
          </p>
        </>
      )}
    </Stack>
  );
}

const CHECK_ORDER = ['fail', 'pass', 'unknown'];
const CHECK_TONES = { pass: 'safe', fail: 'attention', unknown: 'plain' } as const;
const CHECK_WORDS = { pass: 'Passed', fail: 'Action needed', unknown: 'Unknown' } as const;

function Checks({ device }: { device: Device }) {
  if (device.posture.length === 0) return null;
  return (
    <Stack gap="2" className="top shrink span base">
      <h3>Checks</h3>
      <Grid as="ul" columns="fit-m" gap="5" rowGap="2">
        {device.posture
          .toSorted((one, other) => CHECK_ORDER.indexOf(one.state) - CHECK_ORDER.indexOf(other.state))
          .map(({ check, state, evidence }) => (
            <Row as="li" wrap={false} gap="3" align="start" justify="between" key={check}>
              <span>
                {CHECKS[check]}
                <span className="block sub small">{evidence}</span>
              </span>
              <Badge tone={CHECK_TONES[state]}>{CHECK_WORDS[state]}</Badge>
            </Row>
          ))}
      </Grid>
    </Stack>
  );
}
