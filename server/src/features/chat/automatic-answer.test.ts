import { MESSAGE_LENGTH_MAXIMUM } from '@palisade/contract/chat';
import { describe, expect, test } from 'vitest';
import { automaticAnswer } from './automatic-answer.ts';

const automaticReply = (message: string) => automaticAnswer(message).reply.english;

describe('the automatic reply', () => {
  test.each([
    ['I think I have a virus', 'Choose files'],
    ['MALWARE!', 'Choose files'],
    ['my antivirus found something', 'Choose files'],
    ['The Firewall blocks my printer', 'Add Rule'],
    ['no network', 'Add Rule'],
    ['everything is SLOW', 'Restart the computer'],
    ['performance issues', 'Restart the computer'],
    ['a billing question', 'press Request this plan'],
    ['payment failed', 'press Request this plan'],
    ['please look at it remotely', 'New Session'],
    ['I cannot access my files', 'New Session'],
    ['Is my payment pending?', 'press Request this plan'],
    ['I cannot sign in to the remote portal', 'New Session'],
    ['I forgot my password and have no access', 'New Session'],
    ['What does pending mean?', 'haven’t finished checking the file'],
    ['You charged me twice this month', 'press Request this plan'],
    ['There is a double charge on my card', 'press Request this plan'],
    ['I want a refund', 'press Request this plan'],
    ['my file is infected', 'No infected file is open on your account'],
    ['Is this a trojan?', 'a technician can check your computer'],
    ['I paid twice', 'press Request this plan'],
    ['my laptop does not charge', 'A person will read it'],
    ['hello', 'A person will read it'],
    ['', 'A person will read it'],
    ['<script>alert(1)</script>', 'A person will read it'],
  ])('to %j says %j', (message, part) => {
    expect(automaticReply(message)).toContain(part);
  });

  test.each(['I think I have a virus', 'my file is infected'])('to %j names the way out only of a real infection', (message) => {
    const { reply, reply_infected } = automaticAnswer(message);
    expect(reply.english).not.toContain('I deleted it');
    expect(reply_infected?.english).toContain('press “I deleted it” on the Antivirus page');
  });

  test.each([
    ['it hangs since Monday', 'performance', 'performance'],
    ['nothing prints', 'firewall', 'firewall'],
    ['can you look at it', 'remote', 'remote'],
    ['a virus', 'performance', 'virus'],
    ['my file is infected', 'remote', 'my file is infected'],
    ['he wants my password', 'remote', 'he wants my password'],
  ] as const)('to %j of the topic %s is the reply to %j', (message, topic, like) => {
    expect(automaticAnswer(message, topic)).toEqual(automaticAnswer(like));
  });

  test.each([
    ['a virus blocks my network', 'virus'],
    ['the network is slow', 'network'],
    ['slow payment page', 'slow'],
    ['billing of remote access', 'billing'],
  ])('of two keywords in %j the earlier rule answers', (message, keyword) => {
    expect(automaticReply(message)).toBe(automaticReply(keyword));
  });

  // proves: support-customer-16, product-2.11-1
  test.each([
    'a man on the phone wants my card number',
    'Somebody called and says he is from support, he asked me to install AnyDesk',
    'they want me to buy gift cards and read them the codes, a woman told me on the phone',
    'a caller said my network is hacked and wants my password',
    'The bank rang and asked for my PIN',
    'he says he needs remote control and I should give him a code',
    'Microsoft called me about a virus',
    'I think I was scammed',
    'my computer is slow since I installed a program that a caller told me to install',
    'A woman phoned us and said we must download something',
  ])('to %j says to hang up', (message) => {
    expect(automaticReply(message)).toMatch(/^Hang up/u);
    expect(automaticReply(message)).toContain('We never call first');
  });

  test.each([
    ['My photos are encrypted and they want bitcoin to be paid', 'Don’t pay'],
    ['a window says my computer has a virus and I should call a number', 'Don’t call that number'],
    ['My computer is very slow since yesterday and a window says I must call a number', 'Don’t call that number'],
    ['I clicked on a link in a strange mail', 'don’t press anything in it'],
    ['I got a suspicious email about my account', 'don’t press anything in it'],
  ])('to %j says %j', (message, words) => {
    expect(automaticReply(message)).toContain(words);
  });

  // proves: support-customer-16
  test.each([
    ['I forgot my password', 'Forgot Password?'],
    ['please call me about my billing', 'press Request this plan'],
    ['my phone has no network', 'Add Rule'],
    ['I called you, you told me to install the program, and now everything is slow', 'Restart the computer'],
    ['the payment by card failed', 'press Request this plan'],
    ['I would like a technician to look at my computer in a remote session. The problem is: ', 'New Session'],
    ['My computer has been slow since [when].', 'Restart the computer'],
  ])('does not take %j for a scam', (message, words) => {
    expect(automaticReply(message)).toContain(words);
  });

  test('is found in no more time than other words, whatever the message is made of', () => {
    const hostile = ['he ', 'he wants ', 'code call ', 'window virus ', 'a'].map((part) =>
      part.repeat(1_300).slice(0, MESSAGE_LENGTH_MAXIMUM),
    );
    // A slow pattern runs into the test's time limit.
    for (const message of hostile) for (let run = 0; run < 5; run += 1) expect(automaticReply(message)).not.toBe('');
  });

  test('every rule has words of its own', () => {
    const messages = ['virus', 'firewall', 'slow', 'billing', 'remote', 'hello'];
    expect(new Set(messages.map(automaticReply)).size).toBe(messages.length);
  });
});
