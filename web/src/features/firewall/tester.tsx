import { TextInput } from '@mantine/core';
import { directionSchema, type Rule } from '@palisade/contract/firewall';
import type { Packet } from '@palisade/contract/firewall-traffic';
import { type PacketText, readPacket, verdict } from '@palisade/contract/firewall-verdict';
import { IconBan, IconCheck } from '@tabler/icons-react';
import { type ChangeEvent, useState } from 'react';
import { Card } from '#ui/card.tsx';
import { Choice } from '#ui/choice.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Row } from '#ui/layout.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { DEFAULTS_SENTENCE, DIRECTIONS, PROTOCOLS } from './rule-words.ts';
import './rule-fields.css';
import './tester.css';

const PACKET_PROTOCOLS = ['tcp', 'udp', 'icmp'] as const;
const EMPTY: PacketText = { direction: 'inbound', protocol: 'tcp', source: '', destination: '', port: '' };

type Messages = Partial<Record<keyof PacketText, string>>;

/** Evaluates the present rules for one connection. Needs all rules and loads them at first use. */
export function Tester({ rules, onWant }: { rules: readonly Rule[] | undefined; onWant: () => void }) {
  const [values, setValues] = useState(EMPTY);
  const [messages, setMessages] = useState<Messages>({});
  const [packet, setPacket] = useState<Packet>();

  function update(change: Partial<PacketText>) {
    setValues({ ...values, ...change });
    setMessages({});
    setPacket(undefined);
  }

  const type = (field: 'source' | 'destination' | 'port') => (event: ChangeEvent<HTMLInputElement>) =>
    update({ [field]: event.currentTarget.value });

  function ask() {
    const reading = readPacket(values);
    setMessages(reading.ok ? {} : reading.messages);
    setPacket(reading.ok ? reading.packet : undefined);
  }

  const text = { size: 'md', autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const;
  const isIcmp = values.protocol === 'icmp';
  return (
    <Card title="Would this pass?">
      <p className="sub">Enter a connection to see which rule decides. Nothing is sent.</p>
      <Form gap="4" className="rule-form tester" noValidate error={messages} busy={false} onSubmit={ask} onFocus={onWant}>
        <Choice
          label="Direction"
          size="md"
          data={directionSchema.options.map((value) => ({ value, label: DIRECTIONS[value] }))}
          value={values.direction}
          onChange={(event) => update({ direction: directionSchema.parse(event.currentTarget.value) })}
        />
        <Choice
          label="Protocol"
          size="md"
          data={PACKET_PROTOCOLS.map((value) => ({ value, label: PROTOCOLS[value] }))}
          value={values.protocol}
          onChange={(event) =>
            update({ protocol: PACKET_PROTOCOLS.find((value) => value === event.currentTarget.value) ?? 'tcp' })
          }
        />
        <TextInput
          {...text}
          label="Source"
          name="source"
          placeholder="203.0.113.7"
          value={values.source}
          onChange={type('source')}
          error={messages.source}
        />
        <TextInput
          {...text}
          label="Destination"
          name="destination"
          placeholder="192.168.1.10"
          value={values.destination}
          onChange={type('destination')}
          error={messages.destination}
        />
        <TextInput
          {...text}
          label="Port"
          name="port"
          placeholder={isIcmp ? 'none' : '443'}
          inputMode="numeric"
          disabled={isIcmp}
          value={isIcmp ? '' : values.port}
          onChange={type('port')}
          error={messages.port}
        />
        <Submit variant="quiet" size="l" disabled={!rules}>
          Test connection
        </Submit>
      </Form>
      <div role="status">{rules && packet && <Answer rules={rules} packet={packet} />}</div>
    </Card>
  );
}

const ANSWERS = {
  allow: { rule: '**Would be allowed** by the rule {rule}', by_default: '**Would be allowed** by default.' },
  block: { rule: '**Would be blocked** by the rule {rule}', by_default: '**Would be blocked** by default.' },
} as const;

function Answer({ rules, packet }: { rules: readonly Rule[]; packet: Packet }) {
  const { action, rule } = verdict(rules, packet);
  const Icon = action === 'allow' ? IconCheck : IconBan;
  return (
    <Row
      as="p"
      gap="3"
      wrap={false}
      className={`tester__verdict pad-m ${action === 'allow' ? 'surface-accent accent' : 'surface-blue blue'}`}
    >
      <Icon size={20} stroke={2} aria-hidden="true" className="fixed" />
      <span className="break">
        {rule ? (
          <Sentence text={ANSWERS[action].rule} parts={{ rule: <bdi>“{rule.rule_name}”</bdi> }} />
        ) : (
          <>
            <Sentence text={ANSWERS[action].by_default} /> {DEFAULTS_SENTENCE}
          </>
        )}
      </span>
    </Row>
  );
}
