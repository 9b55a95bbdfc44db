import type { LiveSession, Side, Voice } from '@palisade/contract/remote-record';
import { IconMicrophone, IconMicrophoneOff, IconPhoneOff, IconVolume } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { CodeLine } from './code-line.tsx';
import { describeLink } from './link-words.ts';
import { MuteButton } from './mute-button.tsx';
import { hear, type NotHeard, type OwnVoice, startVoice, stopVoice, useVoice, voiceAgain } from './voice.ts';
import './voice-part.css';

const NOT_HEARD: Record<NotHeard, string> = {
  insecure: 'Voice needs https. Open this page at its https address.',
  refused: 'Your browser blocks the microphone. Allow it to the left of the address, then try again.',
  missing: 'No microphone found. Plug one in, then try again.',
  busy: 'Another program may be using the microphone. Close it, then try again.',
  unplugged: 'Your microphone was unplugged, so you are muted. Unmute to use another one.',
};

interface VoicePartProps {
  session: LiveSession;
  side: Side;
  /** The person on the other side. */
  other: string;
  /** Whether the code is already shown beside a picture; both codes are equal. */
  hasCode: boolean;
}

/** Voice call: each side turns its own voice on, and starts muted. */
export function VoicePart({ session, side, other, hasCode }: VoicePartProps) {
  const own = useVoice();
  const isOn = own.session_id === session.id && (own.state === 'muted' || own.state === 'open');
  const theirs = session.voice[side === 'customer' ? 'technician' : 'customer'];
  // The technician’s voice ends with the workspace; the customer’s continues on every screen, which shows it.
  useEffect(() => (side === 'technician' ? stopVoice : undefined), [side]);
  return (
    <Stack
      as="section"
      gap="2"
      align="start"
      className="voice pad-row line-above"
      aria-labelledby="voice"
      data-state={isOn ? own.state : 'off'}
    >
      <h3 id="voice">Talk by voice</h3>
      {isOn ? (
        <>
          <Talk own={own} other={other} theirs={theirs} />
          {own.code !== undefined && !hasCode && <CodeLine code={own.code} side={side} />}
        </>
      ) : (
        <Invitation session={session} own={own} side={side} other={other} theirs={theirs} />
      )}
    </Stack>
  );
}

type InvitationProps = Omit<VoicePartProps, 'hasCode'> & { own: OwnVoice; theirs: Voice };

function Invitation({ session, own, side, other, theirs }: InvitationProps) {
  const [isPutOff, setIsPutOff] = useState(false);
  const isAsked = theirs !== 'off' && !isPutOff;
  // Asks again when the other side turns its voice on again.
  useEffect(() => {
    if (theirs === 'off') setIsPutOff(false);
  }, [theirs]);
  const isAsking = own.session_id === session.id && own.state === 'asking';
  return (
    <>
      {isAsked ? (
        <p role="alert" className="surface-amber pad-s">
          <Sentence
            text="{other} would like to talk with you here. They can’t hear you until you turn your voice on."
            parts={{ other: <bdi>{other}</bdi> }}
          />
        </p>
      ) : (
        <p className="sub">Talk here instead of on the phone. You start muted, and voices are never recorded.</p>
      )}
      <Row gap="2">
        <Button
          size="s"
          variant={isAsked ? 'primary' : 'quiet'}
          icon={IconMicrophone}
          loading={isAsking}
          onClick={() => void startVoice(session, side)}
        >
          Turn my voice on
        </Button>
        {isAsked && (
          <Button size="s" variant="quiet" onClick={() => setIsPutOff(true)}>
            Not now
          </Button>
        )}
      </Row>
      {isAsking && (
        <p role="status" className="sub">
          Your browser asks whether it may use the microphone.
        </p>
      )}
      {own.session_id === session.id && own.notHeard && (
        <p role="alert" className="refusal">
          {NOT_HEARD[own.notHeard]}
        </p>
      )}
    </>
  );
}

/** A sentence about the voices of both sides. */
function describeTalk(state: OwnVoice['state'], theirs: Voice, other: string): string {
  const isOpen = state === 'open';
  switch (theirs) {
    case 'off':
      return isOpen
        ? `${other} has not turned their voice on, so they can’t hear you yet.`
        : `${other} has not turned their voice on. You are muted.`;
    case 'open':
      return isOpen ? `${other} hears you. You hear ${other}.` : `You are muted: ${other} does not hear you. You hear ${other}.`;
    case 'muted':
      return isOpen ? `${other} hears you. ${other} is muted.` : `You are muted: ${other} does not hear you. ${other} is muted.`;
  }
}

function Talk({ own, other, theirs }: { own: OwnVoice; other: string; theirs: Voice }) {
  const words = theirs === 'off' ? undefined : describeLink(own.link);
  return (
    <>
      <Row role="status" as="p" wrap={false} gap="2" align="start" className="break">
        {own.state === 'open' ? (
          <IconMicrophone className="fixed red" size={18} stroke={1.7} aria-hidden="true" />
        ) : (
          <IconMicrophoneOff className="fixed muted" size={18} stroke={1.7} aria-hidden="true" />
        )}
        <span>
          {words === undefined ? describeTalk(own.state, theirs, other) : `${words} Until then, you can’t hear each other.`}
        </span>
      </Row>
      <Row gap="2">
        <MuteButton isMuted={own.state === 'muted'} />
        <Button size="s" variant="quiet" icon={IconPhoneOff} onClick={() => stopVoice()}>
          Turn my voice off
        </Button>
        {own.isSilent && <Button size="s" icon={IconVolume} onClick={() => hear()}>{`Hear ${other}`}</Button>}
        {own.link.state === 'failed' && (
          <Button size="s" variant="quiet" onClick={() => voiceAgain()}>
            Try again
          </Button>
        )}
      </Row>
      {own.notHeard && (
        <p role="alert" className="refusal">
          {NOT_HEARD[own.notHeard]}
        </p>
      )}
    </>
  );
}
