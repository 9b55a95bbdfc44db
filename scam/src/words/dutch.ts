import type { WordList } from './concepts.ts';

export const DUTCH: WordList = {
  click: `klik; klik hier; via de link; op de link; via deze link; annuleer hier; hier:; volg de link; ga naar; bezoek;
    onderstaande link; log in; tik; open de link; druk op`,
  call: `bel; bel ons; bel direct; bellen; neem contact op; contacteer; het nummer; telefonisch contact; klantenservice; spreek;
    contact op met; bel nu; bel dan; telefonisch; neem _ contact`,
  reply: `stuur me; stuur mij; app me; schrijf; reageer; antwoord; neem contact op; laat me weten; bericht; stuur een bericht;
    app mij; berichtje; stuur ons; interesse; voeg me; reply; chat met; praat met; stuur een app; contact met`,
  pay: `betaal; betalen; te betalen; voldoe; voldoen; openstaand*; onbetaald*; niet betaald; staan nog; ontbreekt; betaal alleen;
    betaling; storten; verzendkosten; maak _ over; kosten; afrekenen; reken; nabetal*; achterstand; overmaken; betaald;
    bij te betalen`,
  transfer: `overmaken; overboeking; maak _ over; stuur geld; stuur het; geld sturen; een betaling van; nieuwe leverancier;
    geld overmaken; naar mijn rekening; tikkie; stort; boek; over te maken; maak het; voor mij overmaken`,
  gift_card: `cadeaukaart*; cadeaubon*; steam kaart*; google play kaart*; apple kaart*; amazon kaart*; prepaid kaart*;
    tegoedkaart*; giftcard*; gift card*; itunes kaart*; paysafecard*; waardebon*; bol kaart*; steamkaart*`,
  card_codes: `foto's van de codes; kras; krassen; stuur me foto; foto van de; kras de; foto's van de codes; codes open;
    stuur _ codes; codes door; mail de codes`,
  crypto: `bitcoin*; btc; usdt; crypto*; ethereum; wallet`,
  money_service: `western union; moneygram; ria; paysafecard`,
  cash_pickup: `contant geld; contant; geld ophalen; komt het _ ophalen; een vriend/collega/koerier/medewerker komt; ophalen;
    bankpas ophalen; sieraden; goud`,
  secret_data: `wachtwoord; pincode; pin; kaartgegevens; pasgegevens; bankgegevens; pasnummer; uw gegevens; je gegevens; iban en;
    cvv; persoonlijke gegevens; inloggegevens; bankpas; creditcard*; beveiligingscode; bsn; geboortedatum; kaartnummer;
    betaalgegevens; rekeningnummer invullen; tancode`,
  confirm: `bevestig; bevestigen; controleer; controleren; verifieer; verifieren; werk _ bij; bijwerken; heractiveer; deblokkeer;
    vul; invullen; annuleer; uw identiteit; valideer; update; bijgewerkt; vernieuw; vraag _ aan; inloggen; log in; activeer;
    geef _ door; actualiseer; identificeer; kies; nieuwe datum; verleng; verlengen; vraag aan; voorkom; blokkeer hier; stop de`,
  chat_app: `whatsapp; telegram; signal; viber; wechat`,
  remote_tool: `anydesk; teamviewer; quicksupport; rustdesk; op afstand; overnemen; supremo; scherm delen; meekijken`,
  tell_number: `geef het nummer; geef mij; het id en; zeg mij; nummer door; geef me; door aan onze; noem; toegangscode`,
  lend: `lenen; leen me; geld nodig; heb _ euro nodig; nodig om; voor mij overmaken; iets voor mij; helpen met een betaling;
    kun je me helpen; krijgt het _ terug; voorschieten; kun je betalen; niet in mijn bankieren; rekening betalen; kan je helpen;
    een betaling; betalen voor mij; kun je _ overmaken; kan niet bij mijn; kan je _ overmaken; schieten; kun je _ overmaken;
    rekening betalen; stuur me 1*/2*/3*/5*; nodig 1*/2*/3*/5*; voorschieten; betaal je terug; heb 1*/2*/3*/5*; geld lenen;
    leen je; een gunst; mijn pas werkt niet; iets voor me betalen; voor me betalen; voor mij betalen; iets bestellen`,
  urgent: `dringend*; spoed; met spoed; direct; onmiddellijk; vandaag; nu; meteen; zo snel mogelijk;
    laatste aanmaning/herinnering/waarschuwing/kans; zodra je; per direct; snel; belangrijk; let op; nog vandaag; urgent;
    uiterlijk; waarschuwing; attentie`,
  deadline: `binnen 24/48; binnen 24 uur; verloopt vandaag; twee dagen; 24 uur; 48 uur; tot vandaag; voor middernacht; verloopt;
    binnen; uiterlijk; dagen; voor morgen; termijn; vervalt; nog maar`,
  threat: `anders; zo niet; om te voorkomen; om _ te voorkomen; voorkom; wordt geblokkeerd; beslag; deurwaarder; retour afzender;
    opgepakt; verhoging; wordt afgesloten; uitgeschakeld; of ik stuur; te vermijden; incasso; boete; wordt opgeschort;
    wordt verwijderd; geblokkeerd; extra kosten; in gebreke; gaat het; wordt gedeactiveerd; afgesloten`,
  secrecy: `onder ons; met niemand; vertrouwelijk*; geheim*; zeg niks; zeg niets; niet vertellen; tegen niemand; discreet;
    spreek er; niemand; verrassing; vertel niemand; aan niemand; niets tegen`,
  account: `rekening; bankpas; betaalpas; pas; bank; internetbankieren; mobiel bankieren; e dentifier; bankieren; account;
    abonnement; toegang; creditcard; profiel; apple id; digid`,
  blocked: `geblokkeerd; opgeschort; beperkt; gedeactiveerd; verloopt; uitgeschakeld; verlopen; bevroren; afgesloten; tijdelijk;
    gesloten; geweigerd; mislukt; stopgezet; vervalt; ongeldig; beeindigd`,
  unusual: `verdachte activiteit; ongebruikelijke activiteit; nieuw apparaat; was u dit niet; was jij dit niet; verdachte;
    nieuwe regels; ongeautoriseerde; niet herkent; gekoppeld; verdachte inlog*; onbekend apparaat; inlogpoging; poging;
    afschrijving; betaling van; verdachte transactie; niet door u; veiligheidsredenen; fraude; ongewone; bent u dit niet;
    nieuwe richtlijn*; wetgeving; inlogpoging; onbekend apparaat; we zagen; gedetecteerd; beveilig; ingelogd; bevestig dat;
    nieuwe inlog; overboeking van; ziet; is aangevraagd; wijziging van; nieuwe overboeking; niet aangevraagd; een betaling van;
    wordt _ gesloten; een overboeking`,
  parcel: `pakket*; pakje; zending; bezorging; bezorgd; koerier; douane; depot; bestelling; porto; afzender; levering; pakketje;
    bezorger; verzending; sorteercentrum`,
  held_parcel: `niet worden bezorgd; kon niet; vastgehouden; douanekosten; invoerkosten; verzendkosten; adres is onvolledig;
    onvolledig*; onjuist adres; verkeerd adres; retour afzender; wacht op; staan nog; ontbreekt; vrijgave; heffing; porto;
    niet bezorgd; inklaringskosten; tegengehouden; bezorgpoging; opgehouden; ligt klaar; huisnummer; niet afgeleverd;
    opnieuw inplannen; nieuwe bezorg*; onderweg vast; bezorgkosten; gemist; in de wacht; adresgegevens; bezorging mislukt;
    nieuwe bezorging; mislukt; niet gelukt; uitgesteld; opnieuw bezorgen; bijbetalen; meerkosten`,
  fee: `kosten; verzendkosten; administratiekosten; douanekosten; heffing; porto; toeslag; bijdrage`,
  relation: `mam; pap; mama; papa; oma; opa; mams; ik ben het; je zoon; je dochter; hoi mam; hey pap; moeder; vader; tante; paps;
    kleinzoon; kleindochter; ma; pa`,
  new_number: `nieuwe nummer; nieuw nummer; mijn nieuwe; sla dit nummer op; ander nummer; tijdelijk nummer; verwijder het oude;
    nummer opslaan; oude nummer; reservetelefoon; leentelefoon; is mijn nieuwe; mobiel is stuk; nieuwe 06; ander toestel;
    nummer van een vriend; op dit nummer; reparatie`,
  phone_broken: `telefoon is kapot; telefoon kapot; mobiel kapot; mobiel is kapot; telefoon gevallen; in het water;
    telefoon kwijt; telefoon verloren; scherm kapot; gestolen; telefoon stuk; toestel kapot; telefoon is gestolen; mobiel in;
    wc gevallen; kapot gevallen`,
  new_phone: `nieuwe telefoon; nieuwe mobiel; nieuw mobieltje; nieuwe sim; nieuw toestel`,
  trouble: `ongeluk; borgsom; politie; advocaat; opgepakt; noodgeval; aangehouden; gevangenis; politiebureau`,
  boss: `directeur; baas; manager; ceo; cfo; bestuur; leidinggevende; bestuurder; directrice; voorzitter; eigenaar`,
  unavailable: `in een vergadering; in vergadering; kan niet bellen; niet bereikbaar; telefonisch niet; ben je beschikbaar;
    bent u beschikbaar; heb je even; een taak; regel vandaag; een gunst; ben je vrij; aan je bureau; op je plek; klusje; opdracht;
    even tijd`,
  virus: `virus*; besmet; geinfecteerd; trojan; malware; hacker*; gehackt; spyware; indringer; gecompromitteerd; in gevaar;
    bedreiging*; verdachte bestanden; lek; aanval; beveiligingswaarschuwing`,
  technician: `technicus; technische dienst; technische ondersteuning; helpdesk; microsoft; windows; ondersteuning;
    licentie is verlopen; klantenservice; fraudeafdeling; fraudehelpdesk; monteur van; medewerker; beveiligingsafdeling; support`,
  renewed: `verlengd; afgeschreven; wordt afgeschreven; abonnement; aankoop van; bestelling van; wordt verlengd; incasso;
    vernieuwd; in rekening; wordt afgeschreven; worden afgeschreven; factuur; uw aankoop; wordt in rekening`,
  not_authorised: `niet goedgekeurd; niet geautoriseerd; om te annuleren; annuleren; niet herkent; opzeggen; niet door u;
    betwisten; als u dit niet; zelf niet; stopzetten; toestemming`,
  refund: `teruggave; terugbetaling; recht op; dubbel afgeschreven; toeslag; krijgt nog; vergoeding; compensatie; tegoed;
    belastingteruggave; u ontvangt; energietoeslag; schadevergoeding; terugbetaald; te ontvangen; uitkering; uitbetaling;
    tegemoetkoming; nog te ontvangen; bijdrage; tegemoetkoming; toeslag; staat klaar; uitbetaling; compensatie; nabetaling van;
    te veel betaald; te veel berekend`,
  overpaid: `te veel; per ongeluk; abusievelijk; teveel; per vergissing`,
  give_back: `stuur het verschil; verschil; terugsturen; terugbetalen; terug; terugstorten; maak _ terug`,
  fine: `boete*; openstaande; aanmaning; wegenbelasting; deurwaarder; beslag; verkeersboete; parkeerboete; arrestatiebevel; cjib;
    bekeuring; incasso; achterstand; dwangbevel; belastingschuld; motorrijtuigenbelasting; naheffing; betalingsachterstand; bkr`,
  law: `deurwaarder; beslag; politie; arrestatiebevel; opgepakt; rechtbank; advocaat; justitie; gevangenis; dagvaarding;
    verhoging; incasso; dwangbevel; gerechtsdeurwaarder; vervolging; interpol; europol; om; loonbeslag`,
  job: `baan; werk; vacature; sollicitatie; functie; taken; cv; training; thuiswerk; werkaccount; salaris; hr; manager; bijbaan;
    parttime; recruiter; uitzendbureau; personeelszaken; bijverdienste; freelance`,
  easy_money: `verdien*; per dag; vanuit huis; thuis; geen ervaring; zonder ervaring; dagelijks; commissie; simpele taken;
    eenvoudige taken; makkelijk geld; per uur; uur per dag; bijverdienen; krijgen; liken; per week; extra inkomen;
    passief inkomen; flexibel; beoordeel producten; beoordeel hotels; beoordelen; alleen een telefoon; makkelijke taken; per taak;
    reviews; verdien 1*`,
  income: `extra inkomen; bijverdienste; bijverdienen; geld verdienen; verdien 1*/2*/3*/5*; verdien geld; verdien tot;
    makkelijk geld; passief inkomen; dagelijkse uitbetaling; extra geld; thuis verdienen`,
  advance_fee: `voordat u begint; voor de training; om je; te activeren; activeren; eerst _ storten; storten; op te nemen;
    inschrijfkosten; ontgrendelen; eerst _ betalen; eerste salaris; registratiekosten; aanbetaling; vrijspelen; opwaarderen;
    kosten vooraf; uitrusting; eerste storting; vog`,
  affection: `mijn schat; schat; lieverd; ik hou van je; mijn liefde; mijn hart; mijn koningin; vast te houden; mis je;
    naar je toe; verkeerd nummer; liefste; zielsverwant; bij je zijn; liefje; schatje; ontmoeten; engel; verliefd`,
  stuck: `vast bij; bij de douane; booreiland; militair; chirurg; soldaat; leger; syrie; pas is geblokkeerd; voor de vlucht;
    de vlucht; naar je toe te komen; erfenis; missie; contract; koffer; ticket; visum; geblokkeerd; arts; ingenieur; buitenland;
    gestrand; bagage; gestolen; portemonnee; hotel; in beslag; koffer; paspoort; vliegveld; noodgeval; zonder geld; beroofd`,
  investment: `beleggen; investeren; investering*; trading; crypto*; beurs; bitcoin; forex; broker; belegging*; tradinggroep`,
  sure_profit: `gegarandeerd*; zonder risico; verdubbel*; winst; risicovrij; financiele vrijheid; vermenigvuldig*; geen risico`,
  dwelling: `woning; appartement; kamer; huis; studio; huur; huren; verhuur; huisbaas; verhuurder; vakantiehuis; airbnb;
    huurwoning; bezichtiging`,
  cannot_show: `in het buitenland; niet laten zien; stuur u de sleutels; krijgt u de sleutels; via airbnb; niet in nederland;
    werk in; verhuisd naar; niet aanwezig; niet persoonlijk; op afstand; sleutels per; sleutels via; na betaling; na overboeking;
    zonder bezichtiging; bezichtiging na`,
  deposit: `borg; borgsom; aanbetaling; vooruit; vooraf; eerste maand; maanden vooruit; waarborgsom; reserveren; huur vooruit;
    reserveringskosten`,
  scan: `scan; scannen; qr code; qr; scan de`,
  paid_place: `parkeerautomaat; parkeren; parkeerticket; parkeer*; laadpaal; parkeermeter; buiten werking; laadsessie;
    laadstation; buiten gebruik; deelscooter`,
  invoice: `factuur; facturen; betaling*; leverancier; openstaande; bedrag; rekeningen; contributie`,
  new_account: `rekeningnummer is gewijzigd; nieuwe rekening; nieuw iban; nieuwe iban; nieuw rekeningnummer; van bank veranderd;
    rekening is gewijzigd; oude is opgeheven; gewijzigde bankgegevens; bank gewisseld; nieuwe bank; nieuwe bankrekening;
    nieuwe rekeningnummer; bankgegevens zijn`,
  code: `code; 6 cijfers; zes cijfers; verificatiecode; otp; sms code; tan; pincode; inlogcode; beveiligingscode`,
  pass_on: `doorsturen; stuur _ door; lees mij; lees me; geef me de code; geef mij; zeg me; stuur me de code; per ongeluk;
    geef _ door; terugsturen; voorlezen; noem; doorgeven; even sturen; app me de; lees _ voor; door te geven; mij sturen;
    stuur de code; wat is de code; geef de code; code uit de sms; antwoord met; stuur ons de code; code door om; code door te;
    vertel de code; code noemen; code die u; stuur mij de code; geef me de code; code die je; code sturen; stuur me die code`,
  keep_code: `deel deze; deel hem niet; met niemand; nooit; niet delen; geef _ niet; niet aangevraagd; negeer; deel de code niet;
    deel nooit; vragen nooit; geef nooit; deel _ niet`,
  one_time_code: `code van 6; 6 cijfer*; code van zes; verificatiecode; sms code; code die; otp; tancode; inlogcode;
    code per sms; beveiligingscode; whatsapp code`,
  know_password: `ken je wachtwoord; ken uw wachtwoord; je wachtwoord; uw wachtwoord; gehackt; volledige toegang; toegang tot je;
    geinfecteerd; geinstalleerd; ik ben een hacker; je apparaten; je apparaat; weet je wachtwoord; toegang tot uw`,
  recorded: `webcam; camera; gefilmd; opgenomen; opname; intieme; beelden van je; pornosites; porno*; video van je; masturb*;
    naakt*; naaktfoto*; filmpje; seksueel; video`,
  publish: `contacten; je contacten; naar al je; familie; vrienden; publiceren; openbaar; ziet het; zien het; stuur de video;
    collega's; verspreid*; plaats; sturen; iedereen; delen; online zetten`,
  won: `gewonnen; winnaar; gefeliciteerd; geselecteerd; loterij; staatsloterij; trekking; prijs; ligt klaar; gereserveerd;
    enquete; gelukkige; uitgekozen; uitverkoren; winactie; beloning; verloting; hoofdprijs; jackpot; bezoeker; 1 000 000;
    gelukkige; haal je; exclusie*; cadeau; samsung; iphone; gratis`,
  claim: `claim; claimen; ophalen; verzilver*; bevestig de levering; ontvangen; neem contact; kosten; verzendkosten; levering;
    verkrijgen; ontvang; inwisselen; innen; aanvragen; vrijgeven; haal; meld je`,
  costs: `per sms; euro sms; per bericht; p b`,
  advertised: `gratis; win; prijs; chat; ringtone*`,
  opt_out: `stuur stop; sms stop; afmelden`,
};
