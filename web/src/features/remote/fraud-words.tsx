import { IconPhoneIncoming } from '@tabler/icons-react';
import './fraud-words.css';

/** Warning that a person must read before they have a code to give away: remote support is the tool that fraud uses most. */
export function FraudWords() {
  return (
    <section className="fraud" aria-label="Before you give anybody a code">
      <IconPhoneIncoming size={22} stroke={1.7} aria-hidden="true" />
      <div>
        <h3>Did someone call you? We never call first.</h3>
        <ul>
          <li>
            Whoever called you, wrote to you, or made your screen show a number is a fraud, whatever name they give. Hang up.
          </li>
          <li>Do not open your bank while somebody sees your screen. Nobody from support moves money for you, or asks you to.</li>
          <li>
            Nobody from support wants gift cards, a password, or a code that was sent to you. Whoever does is stealing from you.
          </li>
        </ul>
      </div>
    </section>
  );
}
