import {
  changeDevice,
  type Device,
  deviceNameSchema,
  type Enforcement,
  removeDevice,
  revokeDevice,
  startDeviceScan,
  steerDeviceScan,
} from '@palisade/contract/devices';
import { formatList, formatNumber, formatPercent, plural } from '@palisade/contract/intl';
import { IconDeviceDesktop, IconPencil } from '@tabler/icons-react';
import { useCallback, useId, useMemo, useState } from 'react';
import { CallError, call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { ShowToSupport } from '#domain/conversation/show-to-support.tsx';
import { Badge, IconTile } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Countdown } from '#ui/countdown.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { isEscape } from '#ui/pressed.ts';
import { Sentence } from '#ui/sentence.tsx';
import { ConfirmDevice } from './confirm-device.tsx';
import { DeepScan } from './deep-scan.tsx';
import { healthNotes, healthProblems } from './device-health.ts';
import { CHECKS, DEVICE_STATES, ENFORCEMENTS } from './device-words.ts';
import { Folders } from './folders.tsx';

interface DeviceCardProps {
  device: Device;
  ruleNames: ReadonlyMap<string, string>;
  /** Called when the server does not know the device any more. */
  onMissing: (device: Device) => void;
}

/** One computer: facts, enforcement of its rules, health, scans and actions. */
export function DeviceCard({ device, ruleNames, onMissing }: DeviceCardProps) {
  const now = useMinute();
  const id = useId();
  const [failure, setFailure] = useState('');
  const { mutate, isPending } = useChange({
    of: [changeDevice, startDeviceScan, steerDeviceScan, revokeDevice, removeDevice],
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
  const isRevoked = device.state === 'revoked';
  const isWaiting = device.state === 'waiting';
  return (
    <section className="card device" aria-labelledby={id} aria-busy={isPending}>
      <div className="device__head">
        <IconTile tone={tone === 'plain' ? 'note' : tone} icon={IconDeviceDesktop} />
        <div>
          <DeviceName
            device={device}
            titleId={id}
            onSave={(device_name, onDone) =>
              mutate(() => call(changeDevice, { params, body: { device_name } }), { onSuccess: onDone })
            }
          />
          <p className="sub">
            {device.last_seen_at ? (
              <Sentence
                text="{system}, seen {when}"
                parts={{ system: device.os.name || device.hostname, when: <Moment iso={device.last_seen_at} now={now} /> }}
              />
            ) : (
              device.os.name || device.hostname
            )}
          </p>
        </div>
        <Badge tone={tone}>{label}</Badge>
      </div>
      {isWaiting && <ConfirmDevice device={device} />}
      {!isRevoked && !isWaiting && (
        <div className="device__parts">
          <Rules device={device} ruleNames={ruleNames} />
          <Health device={device} />
          <DeepScan
            device={device}
            onStart={(scan, path) => mutate(() => call(startDeviceScan, { params, body: { scan, path } }))}
            onSteer={(scan_id, wanted) => mutate(() => call(steerDeviceScan, { params: { id: scan_id }, body: { wanted } }))}
          />
          <Checks device={device} />
          <Folders device={device} onChange={(folders) => mutate(() => call(changeDevice, { params, body: folders }))} />
        </div>
      )}
      {failure && (
        <p className="device__failure" role="alert">
          {failure}
        </p>
      )}
      <div className="device__actions">
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
      </div>
    </section>
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
      <div className="device__name">
        <h2 id={titleId}>
          <bdi>{device.device_name}</bdi>
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
      </div>
    );
  }
  return (
    <Form
      className="device__name"
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
      <input
        className="device__input"
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

function Rules({ device, ruleNames }: { device: Device; ruleNames: ReadonlyMap<string, string> }) {
  const now = useMinute();
  const { enforcement, capabilities, rules_count } = device;
  const isUnavailable = capabilities?.firewall === 'unavailable';
  const state: Enforcement['state'] = isUnavailable ? 'unavailable' : enforcement.state;
  const { label, tone, sentence } = ENFORCEMENTS[state];
  return (
    <div className="device__part">
      <h3>Firewall</h3>
      <p>
        <Badge tone={tone}>{label}</Badge> {describeRules(rules_count, device.defaults.inbound === 'block')}
      </p>
      <p className="sub">
        {isUnavailable && capabilities.firewall_reason !== null ? capabilities.firewall_reason : sentence}{' '}
        {enforcement.seconds_left !== null && <TrialEnd seconds_left={enforcement.seconds_left} />}
        {enforcement.pending_since !== null && enforcement.seconds_left === null && !isUnavailable && (
          <Sentence text="Since {when}." parts={{ when: <Moment iso={enforcement.pending_since} now={now} /> }} />
        )}{' '}
        <span className="num">{`Revision ${enforcement.applied_rev} of ${enforcement.desired_rev}.`}</span>
      </p>
      {enforcement.errors.map(({ rule_id, message }) => (
        <p key={`${rule_id} ${message}`} className="device__error">
          {rule_id === null ? (
            message
          ) : (
            <Sentence text="**“{rule}”:** {message}" parts={{ rule: ruleNames.get(rule_id) ?? 'A deleted rule', message }} />
          )}
        </p>
      ))}
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
    </div>
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
    <div className="device__part">
      <h3>Health</h3>
      {healthProblems(device).map((note) => (
        <p key={note} className="device__error">
          {note}
        </p>
      ))}
      {healthNotes(device).map((note) => (
        <p key={note} className="sub">
          {note}
        </p>
      ))}
      {telemetry === null || telemetry_at === null ? (
        <p className="sub">No measurements yet.</p>
      ) : (
        <>
          <dl className="device__figures num">
            <div>
              <dt>CPU</dt>
              <dd>{formatPercent(telemetry.cpu_percent / 100)}</dd>
            </div>
            <div>
              <dt>Memory</dt>
              <dd>{formatPercent(telemetry.memory_percent / 100)}</dd>
            </div>
            <div>
              <dt>Open ports</dt>
              <dd>{telemetry.listening.length}</dd>
            </div>
          </dl>
          <p className="sub">
            <Sentence text="Measured {when}" parts={{ when: <Moment iso={telemetry_at} now={now} /> }} />
          </p>
        </>
      )}
    </div>
  );
}

const CHECK_TONES = { pass: 'safe', fail: 'attention', unknown: 'plain' } as const;
const CHECK_WORDS = { pass: 'Passed', fail: 'Action needed', unknown: 'Unknown' } as const;

function Checks({ device }: { device: Device }) {
  if (device.posture.length === 0) return null;
  return (
    <div className="device__part">
      <h3>Checks</h3>
      <ul className="device__checks">
        {device.posture.map(({ check, state, evidence }) => (
          <li key={check}>
            <span>
              {CHECKS[check]}
              <span className="sub">{evidence}</span>
            </span>
            <Badge tone={CHECK_TONES[state]}>{CHECK_WORDS[state]}</Badge>
          </li>
        ))}
      </ul>
    </div>
  );
}
