import { CHAT_TOPICS, type ChatTopic } from '@palisade/contract/chat';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';

interface Topic {
  label: string;
  /** Placeholders of the empty field that ask for the facts that support needs. */
  placeholder: string;
  sentence: string;
}

export const TOPICS: Record<ChatTopic, Topic> = {
  performance: {
    label: 'Performance issues',
    placeholder: 'Since when, and in which program?',
    sentence: 'Tell us since when it’s slow and which programs are open.',
  },
  firewall: {
    label: 'Firewall help',
    placeholder: 'Which program, address or port?',
    sentence: 'Tell us the program, address, or port, and what should happen.',
  },
  remote: {
    label: 'Remote support',
    placeholder: 'What should we look at?',
    sentence: 'Tell us what to look at. A technician then asks to see your screen, and you decide.',
  },
};

interface TopicsProps {
  chosen: ChatTopic | undefined;
  onChoose: (topic: ChatTopic | undefined) => void;
}

/** The topic of the next message, with the effect of choosing it. Pressing a topic again removes it. */
export function Topics({ chosen, onChoose }: TopicsProps) {
  const topic = chosen && TOPICS[chosen];
  return (
    <>
      <Row as="fieldset" gap="2" aria-label="Topic">
        {CHAT_TOPICS.map((one) => (
          <Button
            key={one}
            variant="quiet"
            size="s"
            aria-pressed={one === chosen}
            onClick={() => onChoose(one === chosen ? undefined : one)}
          >
            {TOPICS[one].label}
          </Button>
        ))}
      </Row>
      <div role="status">
        {topic && (
          <p className="surface-accent pad-s small">
            {topic.sentence} Your message gets this topic, so you get the first steps at once.
          </p>
        )}
      </div>
    </>
  );
}
