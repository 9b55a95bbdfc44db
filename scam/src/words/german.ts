import type { WordList } from './concepts.ts';

export const GERMAN: WordList = {
  click: `hier klicken; klicken sie; klick* auf; uber diesen/den link; folgen sie; unter folgendem link; hier:; besuchen sie;
    jetzt anmelden; hier stornieren; auf den link; link offnen; tippen sie`,
  call: `rufen sie; anrufen; ruf an; rufen sie _ an; unter der nummer; melden sie sich telefonisch; hotline; wahlen sie;
    kontaktieren sie _ support; telefonisch unter; sprechen sie; melden sie sich unter; telefon; unter 0*; notfallnummer;
    wenden sie sich`,
  reply: `schreib mir/uns/bitte; schreiben sie; melden sie sich; melde dich; antworte*; antworten sie; sende mir; schick mir;
    kontaktieren sie; nachricht an; meld dich; interesse; sms an; kontaktiere; chatte mit; schreib an; schicken sie an;
    schreiben sie an; meld dich bei`,
  pay: `bezahlen/zahlen sie; zahle/bezahle; zahl; begleichen; begleichen sie; noch offen; nicht bezahlt; unbezahlt*;
    offene* betrag/forderung/rechnung*/rechnungen; zahlen sie nur; betrag; uberweisen; uberweise; nachzahlen; zu bezahlen;
    zahlung uber; zahlung; einzuzahlen; einzahlen; zahlen`,
  transfer: `uberweis*; geld senden; geld schicken; schick es; zahlung uber; senden sie _ euro; uberweisung von; geld uberweisen;
    auf mein konto; per uberweisung; neuen lieferanten; schicke* _ geld`,
  gift_card: `geschenkkarte*; gutscheinkarte*; guthabenkarte*; google play karte*; steam karte*; steam karten; amazon gutschein*;
    play karten; apple karte*; itunes karte*; prepaid karte*; paysafecard*; gutschein* fur kunden; geschenkgutschein*;
    wertgutschein*`,
  card_codes: `codes als foto; schicken sie mir die codes; rubbeln; rubbel; rubbel* _ frei; foto der; code auf der ruckseite;
    die nummern; codes frei; schicken _ codes; sende _ codes; codes als; codes senden; codes schicken`,
  crypto: `bitcoin*; btc; usdt; krypto*; kryptowahrung*; ethereum; wallet; btc wallet`,
  money_service: `western union; moneygram; paysafe; ria money`,
  cash_pickup: `holt _ ab; bargeld; geld ab; abholen lassen; kollege/bote/kurier/polizist/notar/beamter _ holt/abholt/kommt;
    ubergeben sie; wertsachen`,
  secret_data: `pin; tan; kennwort; passwort; kartennummer; kartendaten; bankverbindung; bankdaten; kontodaten; kreditkarte;
    zugangsdaten; ihre daten; iban und; iban; personliche daten; prufziffer; sicherheitscode; anmeldedaten; zahlungsdaten;
    geburtsdatum; iban ein`,
  confirm: `bestatigen sie; bestatige; verifizier*; aktualisier*; daten _ bestatigen; identitat; prufen sie; entsperren;
    freischalten; reaktivier*; stornier*; eingeben; geben sie _ ein/an; tragen sie; legitimier*; bestatigung; erneuern;
    hinterlegen; authentifizier*; uberprufen sie; anmelden; registrierung; erneut; wahlen sie; neuen termin; abbrechen;
    hier abbrechen; konnte nicht abgebucht; verlangern; beantragen`,
  chat_app: `whatsapp; telegram; signal; viber; wechat`,
  remote_tool: `anydesk; teamviewer; quicksupport; rustdesk; fernwartung; fernzugriff; supremo; ultraviewer; bildschirm teilen;
    fernsteuerung`,
  tell_number: `nennen sie; geben sie mir; id und; nummer durch; sagen sie mir; nummer nennen; die nummer; zugangscode`,
  lend: `leihen; ausleihen; brauche _ geld; brauche _ euro; kannst du _ uberweisen/bezahlen/zahlen/helfen; fur mich _ uberweisen;
    bei einer zahlung; geld fur; du bekommst es; nicht ins online banking; uberweisung fur mich; hilfst du mir; leihst du;
    vorstrecken; auslegen; dann bin ich bei dir; schicken kannst; zahle ich dir; geld schicken; unterstutz*; brauche dringend;
    brauche 1*/2*/3*/4*/5*/8*/9*; einen gefallen; meine karte geht nicht; etwas fur mich bestellen; fur mich bezahlen;
    fur mich zahlen; etwas bezahlen`,
  urgent: `dringend*; sofort; umgehend; unverzuglich; schnellstmoglich; heute; jetzt; letzte mahnung/erinnerung/warnung/chance;
    eilt; sobald du; schnell; letztmalig; binnen; noch heute; achtung; wichtig; gleich`,
  deadline: `innerhalb von/der; binnen; in 24/48 stunden; lauft heute ab; lauft ab; bis heute; 24 stunden; 48 stunden; zwei tage;
    2 tage; bis morgen; nur heute; bis spatestens; nur noch; frist; tagen`,
  threat: `sonst; andernfalls; ansonsten; um _ zu vermeiden; gesperrt; pfandung; gerichtsverfahren; geloscht; deaktiviert;
    gekundigt; verhaftet; vollstreckung; zuruck an den absender; inkasso; strafe; zusatzliche kosten; mahngebuhr*; folgt; drohen;
    droht`,
  secrecy: `vertraulich*; niemandem; mit niemandem; kein wort; unter uns; geheim*; nichts sagen; sag _ nichts;
    sagen sie niemandem; uberraschung; diskret*; verrate; bleibt unter; streng; sprechen sie mit niemand*; nicht verraten`,
  account: `konto; karte; online banking; banking; bank; kundenkonto; kreditkarte; zugang; phototan; pushtan; depot; apple id;
    mitgliedschaft; ihr profil; girokonto`,
  blocked: `gesperrt; eingeschrankt; blockiert; deaktiviert; gesperrt wird; ausgesetzt; lauft _ ab; abgelaufen; sperrung;
    eingefroren; gekundigt; stillgelegt; vorubergehend; zahlung fehlgeschlagen; fehlgeschlagen; nicht mehr gultig; beschrankt`,
  unusual: `ungewohnliche/verdachtige/unbefugte/nicht autorisierte aktivitat*/anmeldung/zahlung/transaktion/abbuchung;
    ungewohnlich*; verdachtig*; neues gerat; neues gerat _ verknupft; waren sie das nicht; waren sie es nicht; nicht von ihnen;
    falls nicht; neue richtlinie*; neuen richtlinie*; sicherheitsgrunden; unbekannt* gerat; betrugsversuch; abbuchung;
    sicherheitsverfahren; neuem gerat; angemeldet; zugriff; uns ist aufgefallen; verdachtige anmeldung; lastschrift; nicht sie;
    wir haben; abgelehnt; wurde eine zahlung; es wurde; nicht waren; falls sie das nicht; neue uberweisung; rufnummer geandert`,
  parcel: `paket*; packchen; sendung*; lieferung*; zustellung; paketdienst; bestellung; porto; depot; zoll*; zusteller; versand;
    zollamt`,
  held_parcel: `nicht zugestellt; konnte nicht; zustellung fehlgeschlagen; zuruckgehalten; zollgebuhr*; zollkosten;
    versandgebuhr*; zusatzgebuhr*; wartet auf; adresse ist unvollstandig; unvollstandig*; fehlende hausnummer;
    adresse _ aktualisieren; zuruck an; nachporto; fehlen noch; liegt bereit; gebuhr* begleichen; gebuhr*; freigabe; offene;
    zustellversuch; angehalten; lieferadresse; verzollung; einfuhr*; nicht verzollt; neuen termin; konnten ihr paket;
    heute nicht zustellen; neuen termin; termin vereinbaren; verzogert; zustellung war nicht; nachgebuhr; umleiten;
    erneute zustellung; zollkosten; lieferung gescheitert`,
  fee: `gebuhr*; bearbeitungsgebuhr*; porto; versand; versandkosten; kosten; zollgebuhr*; verwaltungsgebuhr*`,
  relation: `mama; papa; mutti; vati; oma; opa; mami; papi; enkel; enkelin; sohn; tochter; ich bin's; ich bins; hallo mama;
    tante; onkel`,
  new_number: `neue nummer; neue handynummer; meine neue; speicher* _ nummer; ersatzhandy; nummer speichern; alte nummer loschen;
    losch* _ alte; andere nummer; ubergangsnummer; neuen handy noch; neuem handy; neue handynummer; neuen nummer;
    unter dieser nummer; nummer weg; altes handy ist weg; ersatznummer; vorubergehende nummer; leihhandy`,
  phone_broken: `handy ist kaputt; handy kaputt; handy ins; handy verloren; handy _ gefallen; handy gestohlen; altes handy;
    display kaputt; telefon kaputt; smartphone kaputt; smartphone verloren; ins wasser; ins klo`,
  new_phone: `neues handy; neuen handy; neues telefon; neues smartphone; neue sim`,
  trouble: `unfall; kaution; polizei; anwalt; verhaftet; notfall; in schwierigkeiten; gestorben; notlage; gefangnis;
    staatsanwalt*`,
  boss: `geschaftsfuhrer*; vorstand; chef; chefin; direktor*; geschaftsleitung; leiter*; ceo; cfo; inhaber; abteilungsleiter*;
    pfarrer`,
  unavailable: `in einer besprechung; in einem meeting; im meeting; kann nicht telefonieren; nicht erreichbar; telefonisch nicht;
    bist du am platz; sind sie am platz; bist du verfugbar; sind sie verfugbar; hast du kurz zeit; haben sie kurz zeit;
    brauche _ hilfe; kleiner gefallen; aufgabe fur sie; aufgabe fur dich`,
  virus: `virus; viren; infiziert; trojaner; schadsoftware; malware; spyware; hacker; gehackt; kompromittiert; eindringling;
    sicherheitswarnung; gefahrdet; angriff; fremdzugriff; schadprogramm*; viren gefunden; sicherheitslucke`,
  technician: `techniker*; technische abteilung; technischer support; microsoft support; support; kundendienst; windows;
    kundenservice; lizenz ist abgelaufen; it support; sicherheitsabteilung; betrugsabteilung; helpdesk`,
  renewed: `verlangert; abgebucht; wird abgebucht; abonnement verlangert; abo _ verlangert; bestellung uber; kauf von; belastet;
    erneuert; abbuchung; wird abgebucht; abgebucht; werden abgebucht; rechnung uber; ihre bestellung; kauf uber; eingezogen`,
  not_authorised: `nicht autorisiert; nicht wollten; nicht veranlasst; nicht genehmigt; nicht von ihnen; um zu stornieren;
    zum stornieren; zu widerrufen; kundigen; wenn sie das nicht; widerrufen; falls sie; nicht bestellt; stornieren`,
  refund: `erstattung; steuererstattung; ruckerstattung; ruckzahlung; gutschrift; beitragsruckzahlung; doppelt abgebucht;
    stehen ihnen; steht ihnen _ zu; entschadigung; sie erhalten _ euro; zuruckerstatt*; energiepauschale; bonus; anspruch auf;
    guthaben; rentennachzahlung; kindergeld; auszahlung; nachzahlung; kindergeldnachzahlung; auszahlung; rente nachzahlung;
    zuschuss; klimabonus; heizkosten*; entlastung; ihnen stehen; steht ihnen; beihilfe; guthaben; energiekosten*; zu viel bezahlt;
    zu viel berechnet; zu viel gezahlt; guthaben`,
  overpaid: `zu viel; versehentlich; irrtumlich; aus versehen; zu hohen betrag`,
  give_back: `differenz; senden sie _ zuruck; zuruckuberweisen; zuruck; ruckuberweis*; erstatten sie`,
  fine: `bussgeld; strafe; mahnung; inkasso; strafzettel; haftbefehl; rundfunkbeitrag; nicht bezahlt; forderung; schulden;
    kfz steuer; mautgebuhr*; maut; verwarnung; verwarnungsgeld; parkverstoss; geschwindigkeits*; vollstreckung; steuerschuld`,
  law: `gericht*; haftbefehl; verhaftet; polizei; pfandung; vollstreckung; gerichtsvollzieher; anwalt; staatsanwalt*; inkasso;
    strafe; anzeige; europol; interpol; ermittlung*; kontosperrung`,
  job: `stelle; job; nebenjob; arbeit; bewerbung; homeoffice; heimarbeit; personalagentur; minijob; aufgaben; mitarbeiter;
    managerin; arbeitskonto; personalabteilung; recruit*; produkttester*; lebenslauf`,
  easy_money: `verdien*; am tag; taglich; pro tag; von zu hause; keine erfahrung; ohne erfahrung; stunden am tag;
    einfache aufgaben; flexibel; nebenverdienst; passives einkommen; pro stunde; provision; euro am; euro taglich; im monat;
    produkte bewerten; hotels bewerten; nur handy; bewerten; tagesverdienst; pro auftrag; kleine aufgaben; von daheim;
    leicht verdient`,
  income: `nebenverdienst; zusatzverdienst; zusatzeinkommen; geld verdienen; passives einkommen; verdienen sie;
    verdiene 1*/2*/3*/5*; leicht geld; schnell geld; tagesverdienst; nebenbei verdienen; verdiene von; einkommen von; online geld;
    tagliche auszahlung`,
  advance_fee: `vor dem start; vor beginn; fur die schulung; schulungsgebuhr; freischalten; auszahlen; zuerst; einzahlen;
    freizuschalten; aktivieren; kaution fur; registrierungsgebuhr; bekommen sie _ zuruck; ersten gehalt; vorauszahlung;
    in vorleistung; ausrustung; postident; videoident`,
  affection: `mein schatz; schatz; liebling; ich liebe dich; mein herz; meine liebe; ich vermisse dich; freue mich so auf dich;
    zu dir; mein engel; seelenverwandt*; falsche nummer; bei dir; dich treffen; dich zu; liebste`,
  stuck: `zoll fest; am zoll; sitze _ fest; bohrinsel; soldat*; chirurg*; militar; syrien; karte ist gesperrt; konto gesperrt;
    fur den flug; flug; zu dir zu kommen; ausland; gestrandet; arzt; ingenieur*; einsatz; erbschaft; vertrag; gepack; visum;
    ticket; beschlagnahmt; koffer; gestohlen; ausgeraubt; uberfallen; hotel; ausweis verloren; pass verloren; flughafen;
    festgehalten; notfall im ausland; gestrandet; geldborse`,
  investment: `krypto*; trading*; invest*; broker; bitcoin; geldanlage; mit ki; forex; rendite; borse; daytrading`,
  sure_profit: `garantiert*; ohne risiko; risikofrei; verdoppel*; gewinn; rendite von; sicherer gewinn; sichere rendite;
    vervielfach*; finanzielle freiheit; hohe gewinne; garantiert* gewinn; gewinn pro; rendite pro; rendite von`,
  dwelling: `wohnung; apartment; zimmer; haus; mietwohnung; miete; mieten; ferienwohnung; wg; unterkunft; vermieter; objekt;
    besichtigung`,
  cannot_show: `im ausland; nicht personlich zeigen; nicht zeigen; uber airbnb; beruflich in; zurzeit in; umgezogen nach;
    nicht vor ort; treuhand*; schlussel _ kurier; schlussel per; nach zahlung; nach eingang; besichtigung _ nach;
    ohne besichtigung; schlussel zu`,
  deposit: `kaution; vorab; im voraus; anzahlung; mieten im voraus; erste miete; reservierungsgebuhr; vorkasse;
    sicherheitsleistung; vorauszahlung; reservieren`,
  scan: `scannen; scanne; qr code; qr; scannen sie; einscannen`,
  paid_place: `parkautomat; parken; parkschein; ladesaule; ladestation; parkuhr; parkplatz; parkgebuhr; ladestrom;
    ausser betrieb; scooter`,
  invoice: `rechnung*; zahlungen; offene; lieferant*; uberweisen; betrag; zahlung`,
  new_account: `bankverbindung _ geandert; bankverbindung hat; neue bankverbindung; neue iban; neue konto; bank gewechselt;
    konto gewechselt; geanderte bankverbindung; kontoverbindung _ geandert; alte _ ungultig; konto hat sich; die alte ist;
    neue kontoverbindung; kontoanderung`,
  code: `code; tan; 6 stelligen; sechsstellig*; bestatigungscode; sicherheitscode; sms code; einmalcode; verifizierungscode;
    anmeldecode`,
  pass_on: `weiterleiten; leite _ weiter; schick* _ mir; lesen sie _ vor; vorlesen; nennen sie mir; sag mir; sagen sie mir;
    durchgeben; zuruckschicken; mir _ senden; geschickt; aus versehen; teilen sie uns; geben sie mir; vorlest; nenn mir;
    sende mir; gib mir; den code aus; code aus der sms; antworten sie mit; geben sie den code; code durch; code an;
    code mitteilen; nummer aus der sms; lesen sie den code; tippen sie den code; code schicken; den code schicken; mir den code;
    code durchgeben; code weiterleiten; schick mir den code`,
  keep_code: `niemals weiter; nicht weiter; niemals; nie weiter; gib ihn nicht; geben sie _ nicht; nicht teilen;
    teilen sie _ nicht; fragen nie; geheim halten; niemandem; geben sie _ niemals; nie nach; nicht angefordert; an niemanden`,
  one_time_code: `6 stelligen code; sechsstellig*; bestatigungscode; einmalcode; verifizierungscode; sms code; tan; anmeldecode;
    sicherheitscode; code per sms; code geschickt; whatsapp code`,
  know_password: `kenne dein passwort; kenne ihr passwort; dein passwort; ihr passwort; gehackt; zugriff auf; vollen zugriff;
    infiziert; schadsoftware; ich bin ein hacker; habe dein; habe ihr; dein gerat; trojaner`,
  recorded: `webcam; gefilmt; aufgenommen; aufnahmen; aufzeichnung; pornoseiten; porno*; intime; intimen; video von dir; kamera;
    nacktbilder; nacktfotos; masturb*; erwachsenenseiten; erotik*; video`,
  publish: `kontakte; deine kontakte; familie und freunde; freunde; veroffentlich*; sehen es; sende _ video; schicke _ video;
    verbreit*; kollegen; alle deine; bekommen alle; freunde und familie; im internet; bekannten; an alle`,
  won: `gewonnen; gewinner*; gluckwunsch; ausgewahlt; herzlichen gluckwunsch; gratulation; lotterie; verlosung; auslosung;
    gewinnspiel; wartet auf sie; reserviert; preis; jackpot; hauptpreis; ausgelost; belohnung; treueprogramm; umfrage;
    gratuliere*; besucher; 1 000 000ste; glucklicher; sie haben gewonnen; exklusiv; treue; geschenk wartet; gratis; ausgelost;
    samsung galaxy; iphone`,
  claim: `einlosen; abholen; sichern; beanspruch*; anfordern; bestatige die lieferung; jetzt einlosen; gewinn; versand;
    kontaktieren sie; lieferung; entgegennehmen; holen sie; jetzt sichern; bearbeitungsgebuhr; freigeben; auszahl*`,
  costs: `pro sms; pro minute; euro sms; eur sms; ct min; kosten`,
  advertised: `gratis; kostenlos; gewinn; flirt; chat; klingelton; klingeltone; bonus`,
  opt_out: `stop an; abmelden; abbestellen`,
};
