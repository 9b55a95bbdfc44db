import type { SharedKind } from '@palisade/contract/chat-record';
import { IconMessageShare } from '@tabler/icons-react';
import { Link } from 'react-router';
import { Row } from '#ui/layout.tsx';
import './show-to-support.css';

interface ShowToSupportProps {
  kind: SharedKind;
  id: string;
  name: string;
  /** Shows only the icon, for lists. */
  isSmall?: boolean;
}

/**
 * Opens the chat with a record attached to the message. The record stays private until the person sends it.
 * `name` distinguishes the buttons of a list for screen readers.
 */
export function ShowToSupport({ kind, id, name, isSmall = false }: ShowToSupportProps) {
  return (
    <Row
      as={Link}
      inline
      gap="1"
      className="show-to-support small muted unlined"
      title="Show this to support"
      to={`/chat?${new URLSearchParams({ share: `${kind}:${id}`, name })}`}
      aria-label={isSmall ? `Show ${name} to support` : `Show this to support: ${name}`}
    >
      <IconMessageShare size={16} stroke={1.7} aria-hidden="true" />
      {!isSmall && <span>Show this to support</span>}
    </Row>
  );
}
