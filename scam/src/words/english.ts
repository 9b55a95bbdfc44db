import type { WordList } from './concepts.ts';

export const ENGLISH: WordList = {
  click: `click/tap/press here; click/tap/open/follow/visit/use _ link; via _ link; click/tap below; visit www; go to;
    log/sign in at/here/via; link below; at _ link; here:; tap to; click to`,
  call: `call us/now/immediately/today/back/our/the/on; please call; call me; call +; ring us/now; phone us; call within;
    contact support/us; call support; call from; call landline; number to call; to claim call; just call; call 09*; call 08*;
    dial; speak to; talk to; reach us; ring our; contact _ on 0*; engineer right away; phone number below; helpline; hotline`,
  reply: `reply; rply; txt; txting; text yes; text _ to; txt _ to; send; hit reply; text _ for; text back; text me; message
    me/us/our; write me/back/to me; send me a message; get back to me; respond; contact our/me/agent/us; add me; send yes; let
    me know; confirm by return; email me; whatsapp me; send stop; txt back; chat with; speak with our; contact him; contact
    her; ping me; dm me`,
  pay: `pay/settle/cover _ fee/fees/charge/charges/amount/bill/penalty/fine/duty/balance/shipping/postage; pay
    here/now/today/it/the/by; pay _ deposit; payment required; make _ payment; please pay/settle; settle it/the; to pay for;
    pay for; pay $*; cover postage; pay only; pay with/using; need to pay; have to pay; unpaid; outstanding
    balance/amount/payment; is outstanding; just pay; pay 1*/2*/3*/4*/5*/6*/7*/8*/9*; processing fee; pay _ upfront; pay me`,
  transfer: `transfer/send/wire _ money/funds/dollars/euros/pounds/usd/gbp/eur/deposit/rent; bank transfer; wire transfer;
    transfer it/the; urgent wire; make/do _ transfer; send _ deposit; transfer to; new supplier; help me with; wire of;
    transfer all/$*; to my account; zelle me; send _ to hold; by bank transfer`,
  gift_card: `gift card/cards; steam/amazon/itunes/apple/google/play/ebay/razer/vanilla/target/walmart
    card/cards/voucher/vouchers; google play; prepaid card/cards/voucher/vouchers; gift voucher/vouchers; top up card/cards`,
  card_codes: `scratch; pictures/photos/picture/photo of the/codes; send/email/text me _ code/codes/numbers/pictures; numbers
    on the back; card codes; code on the back; send me pictures; email me the codes; text me the numbers; send the codes;
    codes by; photos of the codes`,
  crypto: `bitcoin; btc; usdt; crypto; ethereum; cryptocurrency; wallet address; crypto wallet; btc wallet; tether`,
  money_service: `western union; moneygram; money gram; cash app; zelle; venmo; paysafecard; ria money`,
  cash_pickup: `courier/friend/lawyer/someone/colleague/driver _ pick up/collect; pick up/collect the cash/money; hand over _
    cash; cash to _ courier; withdraw cash`,
  secret_data: `pin; card number; card details; bank details; banking details; account details; login details; security code;
    cvv; social security; credit card; debit card number; billing information/details; personal details; password; full name
    address; date of birth; passcode; your details; online banking details; payment details`,
  confirm: `verify; confirm/update/validate _
    details/account/identity/information/address/card/number/billing/pin/data/payment/delivery; check/complete/review _
    details/account/identity/information/address/card/number/billing/pin/data/payment/delivery; reactivate; unlock; restore
    access; fill in; submit _ claim/details/form; confirm/update _ your; cancel it/this/here; stop it/this; log in to; sign in
    to; provide/enter/submit/type _ details/number/card/information; re verify; authenticate; confirming your; verifying your;
    updating your; renew; choose a; select a; rebook; book a new; arrange; didn't ask for this; if you didn't; change of; to
    stop; keep your`,
  chat_app: `whatsapp; telegram; signal; viber; wechat; line app; on hangouts; google chat`,
  remote_tool: `anydesk; any desk; teamviewer; team viewer; quick support; quicksupport; rustdesk; ultraviewer; supremo;
    logmein; screenconnect; remote desktop; screen sharing; remote access`,
  tell_number: `give/tell/read/send _ id/number/password/technician; 9 digit; the id and; access code`,
  lend: `lend me; loan me; borrow; could you lend/pay/transfer/send; can you pay/lend/transfer/send; send me _ money; pay it
    for me; transfer it for me; can't get into my bank*; cannot access my bank*; need a small favour/favor; a favour/favor;
    wire me; repay you; send me; lend us; transfer me; give me a loan; need a loan; spot me; cover it; advance me; a favour
    and; my card isn't working; card doesn't work; order something for me; buy something for me; pay a bill for me; pay
    something for me`,
  urgent: `urgent*; immediately; right now; right away; as soon as possible; asap; at once; today; act now; without delay;
    quickly; final/last notice/warning/reminder/chance; hurry; straight away; do not delay; needs attention; action required;
    important notice; this afternoon`,
  deadline: `within 24/48/12/72/2/3 hours/hrs/days; in 24/48 hours; by end of day; before midnight; you have two/2/3/24/48
    days/hours; expires today/soon; by tonight; by tomorrow; today only; valid 12hrs/12/24; hours only; before it expires; end
    of today; until midnight; ends today`,
  threat: `or it/else/your/officers/receive; or you will; will be
    closed/suspended/terminated/cancelled/returned/deleted/blocked/charged/deactivated; to avoid; avoid a/late/further; court
    action; legal action; otherwise; will lose; penalty of; suspension of; is not returned; additional charges; permanently;
    face`,
  secrecy: `keep _ between us; between us; confidential*; don't tell; do not tell; tell no one; tell nobody; don't discuss; do
    not discuss; quietly; discreet*; keep it/this secret; without telling; a surprise; don't inform; not a word; private
    matter`,
  account: `account; your card; debit card; credit card; online banking; mobile banking; bank; banking; your profile;
    membership; apple id; your wallet; subscription`,
  blocked: `restricted; suspended; locked; blocked; limited; deactivated; disabled; on hold; frozen; closed; temporarily;
    expire/expires/expired; put on hold; unauthorised; unauthorized; will be closed; cancelled; interrupted; failed; declined;
    could not process`,
  unusual: `unusual/suspicious/unauthorised/unauthorized/fraudulent
    activity/login/sign/transaction/payment/attempt/access/transactions; new payee/device/login/sign; was this you; if this
    was not; if this wasn't; if not you; was not you; if not go/visit/call/click; if it wasn't you; not recognise; not
    recognize; a payment of; we've blocked a; attempted payment; security alert; someone tried; logged in from; login from;
    signed in from; new phone; we noticed; secure your account; detected; someone is trying; was used; attempted; not you; set
    up on a new; direct debit was set; a new direct debit; changed your phone number; request to change; didn't ask for;
    didn't request; a change to; change the phone; was made from`,
  parcel: `parcel*; package*; shipment; shipping; delivery; courier; your item; redelivery; re delivery; your order; postage;
    tracking number; warehouse; customs`,
  held_parcel: `could not be delivered; couldn't be delivered; not delivered; unable to deliver; failed delivery; missed you;
    delivery attempt; held/hold at/by/in/on; on hold; shipping/delivery/customs/redelivery/re delivery/handling
    fee/fees/charge/charges; customs duty/fee/charge/tax; duty of; returned to sender; return to sender; incomplete;
    wrong/incorrect address; address is; reschedule; zip code; update _ address; pending delivery; awaiting; unpaid; to
    release it; missing house number; cannot be delivered; stopped at; delayed; import charge; import fee; not dispatched; no
    safe place; delivery failed; failed to deliver; rearrange; missing details; could not deliver; new delivery; rebook;
    cleared`,
  fee: `fee; charge of; charges; small fee; fee of; postage; processing fee; admin fee; administration fee; handling fee; tax
    of; shipping to claim`,
  relation: `mum; mom; mummy; mam; dad; daddy; grandma; grandpa; granny; nan; nana; gran; grandad; auntie; mother; father;
    your son; your daughter; your grandson; it's me; its me; hey dad; hi mum`,
  new_number: `new number; my new number; this is my number; save this number; temporary number; another phone; number for
    now; delete the old; delete my old; using a friend's phone; different number; use this number; temporary number; on this
    number; text me on this; number instead; replacement phone; borrowed phone; using a mate; being repaired`,
  phone_broken: `phone is broken/damaged/lost; dropped my phone; lost my phone; broke my phone; old phone; phone broke; phone
    fell; phone was stolen; screen is cracked; phone in the toilet/water; water damage; phone got stolen; broken phone;
    smashed my phone`,
  new_phone: `new phone; new mobile; got a new number; new cell; new sim; new handset`,
  trouble: `accident; police station; in jail; arrested; bail; lawyer; emergency; in trouble; stranded; robbed; can't get into
    my; stuck with a bill`,
  boss: `ceo; cfo; director; chairman; managing director; head of; president; your boss; principal; pastor; manager; chief
    executive; board of; the office of`,
  unavailable: `in a meeting; can't talk; cannot talk; cannot take calls; can't take calls; are you available; are you free;
    are you at your desk; at your desk; got a minute; conference call; do you have a moment; can't be reached; need a
    favor/favour; have a task; a quick task; quick request; a task for you; need you to; need you to get/buy/make/send`,
  virus: `virus*; infected; trojan; spyware; malware; hacker*; hacked; intruder; compromised; security breach; firewall alert;
    blocked for security; breached; breach; at risk; spyware; stolen data; unauthorised access to your computer; suspicious
    files; firewall; viruses`,
  technician: `technician; technical support/department/team; support team/line/agent/engineer; microsoft
    support/security/technician; windows technical/support/department/security; help desk; helpdesk; customer support; fraud
    team/department; certified technician; apple support; licence expired; license expired; calling on behalf; calling from`,
  renewed: `renewed; subscription _ renewed/charged; has been charged; will be charged; auto renew*; order confirmed; purchase
    of; invoice for; payment of _ was; debited; has been deducted; thank you for your purchase/order; deducted; will be
    deducted; thanks for your purchase; your purchase; order total; amount charged; autopay; billed`,
  not_authorised: `did not authorize/authorise; didn't authorize/authorise; not authorize/authorise; if you did not; to
    cancel; if this wasn't you; not made by you; to dispute; cancel this; cancel the; cancel or; if not done by you; for
    cancellation; get a refund; to stop this`,
  refund: `refund; tax refund; rebate; reimbursement; compensation; cashback; owes you; owed to you; eligible for; entitled
    to; overpayment; unclaimed; grant; tax return of; tax relief; energy discount; cost of living payment; to get your refund;
    stimulus; payment waiting; claim £*; claim $*; owed; you are owed; government scheme; eligible; support payment; credit
    of; outstanding credit; backdated; payout; overcharged; charged too much; paid too much; overpaid bill`,
  overpaid: `overpaid; refunded too much; too much; by mistake; accidentally sent; instead of; sent you _ by mistake; extra
    money; wrong amount`,
  give_back: `return/send/refund _ difference; send it back; return the; pay back the; return the rest; refund the; send back;
    difference`,
  fine: `fine; penalty; parking charge; pcn; toll*; speeding; overdue; warrant; debt; vehicle tax; late fee/fees; traffic
    violation; jury duty; congestion charge; court; evasion; tax arrears; road tax; fixed penalty; citation; license fee; tv
    licence; failure to pay; outstanding fine; unpaid vehicle; speeding; dart charge; clean air zone; bus lane; ulez;
    collection agency; final demand; arrears; council tax; late filing`,
  law: `court; arrest*; prosecution; legal action; bailiff*; police; warrant; officers; lawsuit; seize*; suspended licence;
    driving privileges; jail; prison; enforcement; federal; attorney; sheriff; social security number; suspension of your;
    penalty; enforcement agents; dmv`,
  job: `job*; position; part time; remote work; work from home; vacancy; recruit*; hiring; cv; resume; tasks; online task;
    employment; indeed; work account; hr; freelance; employer; side hustle; agency; merchants`,
  easy_money: `earn; per day; daily; a day; per hour; from home; no experience; work from home; hours a day; 1 2 hours;
    flexible; like _ videos; easy money; commission; salary of; weekly pay; paid daily; passive income; simple; up to $*; up
    to £*; extra income; make $*; make £*; rate products; rate _ hotels; review products; just your phone; only need a phone;
    paid weekly; work 1 hour; simple online; boost ratings; optimise apps; per task; earn up to`,
  income: `extra income; side income; second income; passive income; earn money; make money; easy money; get paid; pays you;
    paid daily; daily income; daily payout; earn from home; earn up to; earn $*; earn £*; earn €*; earn 1*/2*/3*/4*/5*/8*;
    financial freedom; money online; extra cash; quick cash; part time income; work from your phone`,
  advance_fee: `training/registration/processing/activation/onboarding/equipment fee; before you start; before starting;
    deposit _ first; to activate; to unlock; unlock bigger; to withdraw; pay a; first deposit; top up; deposit _ usdt;
    recharge; background check fee; starter kit; returned with; refunded with; reimbursed with; pay for _
    training/equipment/uniform/visa`,
  affection: `my darling; my love; my dear; i love you; sweetheart; my queen; my king; honey; hold you; soulmate; my heart;
    wrong number; you seem so kind; can't wait to; miss you; fell in love; be with you; destiny; beautiful soul; my dearest;
    babe; meet you`,
  stuck: `stuck; customs; oil rig; surgeon; military; army; syria; un doctor; deployed; peacekeeping; contract ends; card is
    blocked; bank card; keep my luggage; luggage; i want to come; come to you; the flight; ticket; overseas; offshore; visa
    fee; engineer; inheritance; marine; quarantine; account is frozen; leave pass; stranded; abroad; wallet was stolen;
    stolen; robbed; mugged; hotel won't; hotel bill; can't leave; lost my passport; detained; embarrassed; emergency abroad;
    stranded; seized; confiscated; blocked at`,
  investment: `trading; invest*; crypto; forex; bitcoin; stock tips; broker; trading group; ai trading; minimum investment;
    return on investment`,
  sure_profit: `guaranteed; risk free; no risk; without risk; double/doubles/triple your money; doubles your; 100 profit;
    profit each/every/per/daily; profits daily; financial freedom; never lose; high returns; made $*; made £*; ten times; huge
    profit*; 10x; 5x; 100x; profit _ week/day/month; profits _ week/day/month; % per day; doubles/double/doubled your; returns
    of; guaranteed profit; guaranteed returns`,
  dwelling: `flat; apartment; house; room; studio; property; rental; rent; airbnb; holiday home; villa; landlord; lease;
    viewing`,
  cannot_show: `i am abroad; currently abroad; i'm abroad; abroad at the moment; can't show; cannot show; unable to show; out
    of the country; out of town; moved to; not in the country; post you the keys; send you the keys; hand* over the keys; mail
    the keys; airbnb will; relocated; keys by; courier the keys; keys via; after payment; once you have paid; viewings;
    without viewing; viewing after`,
  deposit: `deposit; first month; months upfront; upfront; in advance; security deposit; holding deposit; to hold it; reserve
    it; down payment; advance payment; pay two months; refundable; to secure`,
  scan: `scan; qr code; qr; scan below; scan the`,
  paid_place: `parking; pay machine; ticket machine; parking meter; charging session; charging station; charge point; ev
    charging; out of order; app out; bicycle; scooter; car park`,
  invoice: `invoice*; bill; payment; payments; remittance; outstanding; supplier; account department; accounts; transfer all;
    all open; statement`,
  new_account: `bank details have/has/changed; new bank details/account; changed my/our bank; changed bank; account has
    changed; new iban; updated bank; updated account; old one is closed; switched bank*; please use the new; account is under
    audit; change of bank`,
  code: `code; 6 digit; six digit; passcode; otp; one time; verification code; security code; pin code; sms code; text code`,
  pass_on: `forward it; forward _ to me; send it to me; send me _ code; read out; read me; tell me; give me; send it back;
    send it here; forward; what is the code; share _ with me; screenshot; send the code; text me the code; accidentally sent;
    by mistake; by accident; read it; need the code; tell us; give us; provide the code; confirm the code; reply with the;
    respond with; text us; send us the; give the code; code from the; provide; enter it here; type the code here; read back;
    confirm it to`,
  keep_code: `never share; don't share; do not share; don't give; do not give; never give; keep this code; don't tell; do not
    tell; never tell; do not forward; won't ask; will never ask; never ask; not ask`,
  one_time_code: `6 digit code; six digit code; verification code; otp; one time passcode/password/code; passcode; sms code;
    security code; authentication code; login code; code we just; code we sent; code you just; whatsapp code`,
  know_password: `know your password; your password is; i know your; one of your passwords; your password; hacked your; access
    to your; full access; infected your; installed malware/software/a; monitoring you; i am a hacker; control of your`,
  recorded: `recorded you; recording; webcam; video of you; your camera; adult sites; adult websites; porn*; masturbat*;
    intimate; compromising; made a recording; nude*; explicit; explicit photos; filmed; screenshots of`,
  publish: `send _ video/to all/contacts/everyone; your contacts; all your contacts; family and friends; friends and family;
    family or colleagues; will see everything; will see; publish; expose; post it; go public; release the; or i send; leak;
    everyone will; share it with; send it to your; colleagues; reputation`,
  won: `your/ur lucky day; you have won; you've won; you won; winner*; won a/the; have been selected; been selected; you have
    been chosen; were selected; was drawn; lucky; congratulations; congrats; lottery; raffle; prize; jackpot; came first;
    reward; awarded; you are the; sweepstake*; draw; guaranteed cash; valued customer; is reserved for you; entitled; u have
    won; have been awarded; free gift; guaranteed; gift voucher; surprise; lucky visitor; visitor number; 1 000 000; answer 3
    short; survey; exclusive reward; loyal customer; been chosen; gift is waiting; free samsung; free iphone`,
  claim: `find out why; awaiting you; prizeawaiting; claim*; redeem; collect; receive a; to release; confirm delivery; get it
    now; claim it; pick yours; to receive; claim your; reward; delivery address; your prize; get yours; to get; unlock your;
    answer _ questions`,
  costs: `replies/reply/calls/texts/messages/txts cost; per msg/message/text/txt/sms/min/minute; p msg; p min; p sms;
    national/standard/network/std/normal rate/rates; std txt; rates/charges apply; charged at; ts cs; t cs; ts and cs; t c's;
    terms conditions; terms and conditions; terms apply; po box; pobox*; 18+; 16+; over 18; 18 only; custcare; customer
    care/services; sub charge; subscription service; calls cost; from/frm landline/land; pence per; premium rate/phone`,
  advertised: `free; offer/offers; half price; guaranteed; bonus; cash; award*; discount; limited; special; voucher/vouchers;
    valued; dear customer; latest; brand new; win; weekly; urgent; deal/deals; complimentary; private; important`,
  content_offer: `ringtone*; ring tone*; tones; real/true/top/new/latest tone; wallpaper*; mobile/phone/java
    game/games/content/music/logo/logos/club; music service/player; video clip*; horoscope*; tarot; psychic; screensaver*;
    chat/date/love/dating _ msg/service/line/mobile; logo; chart _ mobile; download* _ mobile/phone; joke*/alerts _ text/txt;
    game _ mobile/phone/download; text/sms credits/services/alert/service; credits _ topped; password/pin for _ wap; wap;
    content order; play _ now; buy for just`,
  phone_offer: `upgrade your/to; mobile/phone upgrade; free/latest/new/newest/top camera/colour/color/video
    phone/phones/mobile/mobiles/handset; colour phone; camera phone; latest/newest/new phones/mobiles/handsets; line rental;
    free/double/inclusive/unlimited minutes/mins/texts/txts; free _ call/text credit/texts/minutes/mins/messages; activate
    your _ free; had your mobile; your mobile/phone contract; mobile/phone contract; new tariff; any network; cheaper calls;
    cheap _ calls; phone/mobile/handset for free; free nokia/samsung/motorola/sony/iphone/phone/mobile/handset; delivered
    tomorrow; delivery tomorrow; entitled to update/upgrade; eligible for _ upgrade; update to the latest; latest _ with
    camera`,
  account_points: `account statement; statement for; bonus/loyalty/reward points; unredeemed; un redeemed; points expire*;
    loyalty offer/reward/scheme; bonus caller; caller prize; statement shows; points _ redeem; not claimed; still not
    claimed`,
  contest: `chance to win; chance 2 win; chance to get; free entry; entered into; enter our; weekly/wkly
    draw/comp/competition; prize draw; quiz; trivia; competition; auction*; correct answer; answer _ question/questions;
    next/highest bid; place your bid; send bids; your vote; who won; name the; correct or incorrect; a b or c; can you name;
    play to win; win a/an/the/cash/up/tickets/vip; could win; you could be; 2 win; competition _ text; take the challenge;
    walk out a winner; dream team; register now`,
  loan: `loan; loans; refused credit; bad credit; unsecured; homeowner*; mortgage*; debt/debts _
    write/written/cleared/free/help; cash loan; borrow from; consolidate; tenants welcome; credit _ approved; write off; ppi;
    compensation for; entitled to _ compensation`,
  message_waiting: `new voicemail/voicemails; new voice message/messages; you have _ message/messages/voicemail/match/matches;
    message/messages waiting; message is waiting; message from; urgent message; unread message/messages; to
    retrieve/listen/hear _ message/messages; retrieve your; mailbox; received a new; a voicemail;
    trying/tried/attempt/attempted to contact/reach you; trying 2 contact; missed call from; customer service announcement;
    service announcement; important announcement; important message for; important information 4; important information for`,
  curiosity: `secret admirer; admirer; someone _ fancies/knows/likes; fancies you; fancies u; find out who; reveal* who/their;
    guess who; who is it; someone you know; has asked our; asked us to; looking to/2 make contact; wants to meet you; has a
    crush; thinks you; thinks ur; who loves you; call now to find; found your number`,
  adult_offer: `dating service/line; date service; chat line/lines; chatline/chatlines; sex chat; phone sex; live
    sex/girls/chat; adult chat/content/only/video/fun; xxx _ text/txt/pics/video/live; hot/sexy/local/naughty/horny
    girls/singles/babes/women/ladies/men/chat/pics; singles _ area/waiting; meet local; flirt* _ text/txt/now/waiting;
    flirting now; join now _ age; your/ur age; age and gender; name and age; name age; bored housewives; rude/dirty/naughty
    chat/pics/time; waiting to talk/chat; waiting for your call; waiting 4 u; dogging; explicit; hardcore; get laid; txt me
    your; your fantas*; blind date; speed dating; speedchat; sexiest; wet _ call; make me beg; call me now _ with; my pics;
    see me; want to see; horny`,
  opt_out: `stop; reply no; text no; no to remove; to stop; text/txt/reply/send stop; opt out; optout; to unsubscribe;
    unsubscribe; unsub; 2 stop; stop2*; stop to; txtstop; to cancel text/txt/reply/send; cancel send; 2 end; end reply; to
    opt; stopsms*; stoptxt*; 2optout*`,
};
