import type {
  Checked,
  CheckedLink,
  ScamAnswer,
  ScamParts,
  ScamReason,
  ScamSituation,
  ScamVerdict,
} from '@palisade/contract/scam-check';
import { IconAlertTriangle, IconCircleCheck, IconHelpCircle, IconShieldX, type TablerIcon } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Address } from '#ui/address.tsx';
import { Badge } from '#ui/badge.tsx';
import { Card } from '#ui/card.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { Lead, type LeadTone } from '#ui/lead.tsx';
import { StateFilter } from '#ui/list-filters.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { BlockOnDevices } from './block-on-devices.tsx';
import { MarkedText } from './marked-text.tsx';

const LOOKS: Record<ScamVerdict, { tone: LeadTone; icon: TablerIcon; sentence: string }> = {
  dangerous: { tone: 'danger', icon: IconShieldX, sentence: 'Don’t answer, don’t tap anything in it, and don’t pay.' },
  suspicious: { tone: 'attention', icon: IconAlertTriangle, sentence: 'Ask the sender in a way that you already know.' },
  nothing_found: { tone: 'unknown', icon: IconCircleCheck, sentence: 'That doesn’t prove it’s safe. See below what we checked.' },
  not_checked: { tone: 'unknown', icon: IconHelpCircle, sentence: 'See why below, and what you can do next.' },
};

interface AnswerViewProps {
  answer: ScamAnswer;
  /** The checked text, to mark the places that reasons name. */
  text?: string;
  action?: ReactNode;
  isFirst?: boolean;
}

/** The result of a check: verdict, reasons, advice, and the examined parts. */
export function AnswerView({ answer, text = '', action, isFirst = true }: AnswerViewProps) {
  const look = LOOKS[answer.verdict];
  const own = useRef<HTMLDivElement>(null);
  // On a phone the result starts below the visible area.
  useEffect(() => {
    if (isFirst) own.current?.scrollIntoView?.({ block: 'start' });
  }, [isFirst]);
  return (
    <Stack ref={own} gap="4" className="scam-answer" aria-live="polite">
      <Lead tone={look.tone} icon={look.icon} title={answer.headline} sentence={look.sentence} action={action} />
      {answer.reasons.length > 0 && <Reasons text={text} reasons={answer.reasons} />}
      <Advice answer={answer} />
      {answer.verdict === 'dangerous' && <BlockOnDevices links={answer.parts.links} />}
      <Grid columns="fit-l" gap="4" align="start">
        <Parts parts={answer.parts} />
        <CheckedParts checked={answer.checked} />
      </Grid>
    </Stack>
  );
}

/** The reasons, numbered as in the marked text above them. */
function Reasons({ text, reasons }: { text: string; reasons: readonly ScamReason[] }) {
  return (
    <Card title="Why">
      <MarkedText text={text} reasons={reasons} />
      <Stack as="ol" gap="3" className="decimal">
        {reasons.map(({ code, sentence, span }) => (
          <li className="break" key={`${code} ${span?.start}`}>
            <p>{sentence}</p>
            {span !== null && span.text !== '' && (
              <q className="muted small">
                <bdi>{span.text}</bdi>
              </q>
            )}
          </li>
        ))}
      </Stack>
    </Card>
  );
}

const SITUATIONS: readonly { value: ScamSituation; label: string }[] = [
  { value: 'nothing', label: 'Nothing yet' },
  { value: 'clicked', label: 'I opened a link' },
  { value: 'gave_data', label: 'I gave data' },
  { value: 'paid', label: 'I paid' },
  { value: 'gave_access', label: 'I gave access' },
];

/** Advice, depending on what the person has already done. */
function Advice({ answer: { advice } }: { answer: ScamAnswer }) {
  const [situation, setSituation] = useState<ScamSituation>('nothing');
  if (Object.values(advice).every((sentences) => sentences.length === 0)) return null;
  return (
    <Card title="What to do">
      <Stack gap="2" className="scam-advice">
        <p className="sub">What have you done already?</p>
        <StateFilter
          label="What have you done already?"
          value={situation}
          options={SITUATIONS}
          onChoose={(chosen) => setSituation(chosen ?? 'nothing')}
        />
        <Stack as="ol" gap="2" className="decimal" aria-live="polite">
          {advice[situation].map(({ code, sentence }) => (
            <li key={code}>{sentence}</li>
          ))}
        </Stack>
      </Stack>
    </Card>
  );
}

function trustOf({ trust, imitates, brand }: CheckedLink) {
  if (trust === 'listed') return <Badge tone="danger">On a list of dangerous addresses</Badge>;
  if (imitates !== null) return <Badge tone="danger">{`Imitates ${imitates}`}</Badge>;
  if (trust === 'suspicious') return <Badge tone="attention">Suspicious</Badge>;
  if (brand !== null) return <Badge tone="note">{`Belongs to ${brand}`}</Badge>;
  if (trust === 'trusted') return <Badge tone="note">On your trusted list</Badge>;
  return <Badge tone="plain">Unknown</Badge>;
}

const CODE_WORDS: Record<ScamParts['codes'][number]['kind'], string> = {
  link: 'Link',
  payment: 'Payment',
  wifi: 'Wi-Fi',
  contact: 'Contact',
  calendar: 'Calendar entry',
  sms: 'Text message',
  phone: 'Phone number',
  mail: 'Email',
  place: 'Place',
  app: 'App link',
  text: 'Text',
};

const PROOFS: Record<NonNullable<ScamParts['sender']>['proof'], string> = {
  proven: 'The sender’s domain confirms this email.',
  failed: 'The signature doesn’t match: the email was changed or forged.',
  unsigned: 'Nothing confirms that this sender wrote it.',
  not_checked: 'We couldn’t check whether this sender wrote it.',
};

/** Links, codes, sender, numbers and accounts of a message. */
function Parts({ parts: { links, sender, codes, numbers, accounts } }: { parts: ScamParts }) {
  if (links.length + codes.length + numbers.length + accounts.length === 0 && sender === null) return null;
  return (
    <Card title="What’s in it">
      <Stack as="dl" gap="3">
        {sender !== null && (
          <Part name="Sender" value={sender.name === '' ? sender.address : `${sender.name} <${sender.address}>`}>
            {sender.reply_to !== null && <span>{`Answers go to ${sender.reply_to}.`}</span>}
            <span>{PROOFS[sender.proof]}</span>
          </Part>
        )}
        {links.map((link) => (
          <Part key={`${link.url} ${link.span?.start}`} name="Link" value={link.shown}>
            <Sentence
              text={link.owner === null ? 'Leads to **{place}** {trust}' : 'Your tap goes to **{place}** {trust}'}
              parts={{ place: <bdi>{link.owner ?? link.host_shown}</bdi>, trust: trustOf(link) }}
            />
          </Part>
        ))}
        {codes.map((code) => (
          <Part key={code.text} name={`Code: ${CODE_WORDS[code.kind]}`} value={code.text}>
            {code.facts.map(({ name, value }) => (
              <span key={name} className="block">
                {name}: <bdi>{value}</bdi>
              </span>
            ))}
          </Part>
        ))}
        {numbers.map(({ number, country, span }) => (
          <Part key={`${number} ${span.start}`} name="Phone number" value={number}>
            {country === null ? 'Country unknown' : `Country: ${country}`}
          </Part>
        ))}
        {accounts.map(({ account, kind, country, valid, span }) => (
          <Part key={`${account} ${span.start}`} name={kind === 'iban' ? 'Bank account' : 'Crypto wallet'} value={account}>
            {country !== null && `Country: ${country}. `}
            {!valid && 'The number has an error.'}
          </Part>
        ))}
      </Stack>
    </Card>
  );
}

function Part({ name, value, children }: { name: string; value: string; children: ReactNode }) {
  return (
    <Grid columns="term" phone="stack" gap="3" rowGap="0">
      <dt className="muted small">{name}</dt>
      <dd className="break">
        <Address text={value} />
        <span className="block muted small">{children}</span>
      </dd>
    </Grid>
  );
}

/** The checked parts, and the unchecked parts with the reason. Parts that the message doesn’t have are omitted. */
function CheckedParts({ checked }: { checked: readonly Checked[] }) {
  const done = checked.filter(({ state }) => state === 'checked');
  const open = checked.filter(({ state }) => state === 'not_checked');
  return (
    <Card title="What we checked" level="sunken">
      <Stack gap="3">
        {done.length > 0 && (
          <Stack as="ul" gap="1" className="small muted" aria-label="Checked">
            {done.map(({ part, sentence }) => (
              <li key={part}>{sentence}</li>
            ))}
          </Stack>
        )}
        {open.length > 0 && (
          <>
            <h3 className="base">Not checked</h3>
            <Stack as="ul" gap="1" className="small muted" aria-label="Not checked">
              {open.map(({ part, sentence }) => (
                <li key={part}>{sentence}</li>
              ))}
            </Stack>
          </>
        )}
      </Stack>
    </Card>
  );
}
